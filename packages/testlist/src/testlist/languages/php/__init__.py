"""PHP: what its files say, and what PHPUnit and Pest make of it."""
