window.kbgenCards=[["card","Card",3707764736]];
