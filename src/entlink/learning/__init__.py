"""Models trained on mentions with gold: bi-encoders and cross-encoders, in torch, which nothing else here needs."""
