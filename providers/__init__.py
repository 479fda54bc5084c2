"""Who makes the videos: providers behind one small protocol, and the engine that runs them without paying twice."""
