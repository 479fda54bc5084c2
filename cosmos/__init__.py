"""Cosmos3-Super, the one model of the paper that is run on one's own machine. Needs requirements of its own."""
