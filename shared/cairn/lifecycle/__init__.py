"""What keeps a deployment honest over time: verification of chains, anchors of their heads."""
