"""Two sides' agents agree or not, in signed turns. Not who should meet whom."""
