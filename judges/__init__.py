"""Who reads outcomes: judges behind one small protocol, one parser for all of them, and the engine that runs them."""
