// What the built site answers in a browser, diagnosis and calculators: node --test tests/browser/answers.test.mjs
import { after } from "node:test";
import { build, close, program, serve, start } from "./harness.mjs";
import bundle from "./parts/bundle.mjs";
import calculator from "./parts/calculator.mjs";
import calculatorFigures from "./parts/calculator-figures.mjs";
import carriedCase from "./parts/carried-case.mjs";
import journey from "./parts/journey.mjs";
import modelFile from "./parts/model-file.mjs";
import pasteBox from "./parts/paste-box.mjs";
import plans from "./parts/plans.mjs";
import samples from "./parts/samples.mjs";
import tools from "./parts/tools.mjs";

after(close);

const folder = await build();
const browser = await start();
const { url } = await serve(folder);

for (const part of [
  pasteBox,
  carriedCase,
  samples,
  journey,
  calculator,
  calculatorFigures,
  modelFile,
  plans,
  tools,
  bundle,
]) {
  part({ folder, browser, program, url });
}
