window.kbgenCards=[["card","Card",4294967296]];
