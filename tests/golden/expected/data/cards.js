kbgen.cards=[["card","Card",3707764736]];
