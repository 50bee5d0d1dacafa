"""`cairn cost`: what models have cost, and what a million operations cost at list prices."""
