kbgen.devices=[["card","Card",[3707764736,3707764736],[0]]];
