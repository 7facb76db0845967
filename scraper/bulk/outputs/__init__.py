"""How rows become files: each format behind one protocol, cut back to where the job knows them to be safe."""
