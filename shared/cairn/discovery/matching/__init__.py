"""Who fits whom: lenses, candidates, judgement, opportunities and their states."""
