"""How each kind of source is listed and read. Heavy libraries are loaded by who needs them."""
