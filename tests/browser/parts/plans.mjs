// Will it run? The scripts' answers against the planner's, without a page.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import vm from "node:vm";

const plain = value => JSON.parse(JSON.stringify(value));

/** The scripts that answer, with the tables of a built site. */
export function answers(folder) {
  const page = readFileSync(join(folder, "will-it-run/index.html"), "utf8");
  const index = JSON.parse(/<script[^>]*id="?fit-data"?[^>]*>(.*?)<\/script>/s.exec(page)[1]);
  const context = vm.createContext({ kbgen: { t: text => text }, URLSearchParams });
  for (const name of ["fit", "settings", "answer"]) {
    vm.runInContext(readFileSync(new URL(`../../../static/js/${name}.js`, import.meta.url), "utf8"), context);
  }
  const { fit, settings, answer } = context.kbgen;
  /** The memory of devices on a system, as their address says. */
  const rooms = (slug, devices, os) => {
    const own = settings(index, null);
    const state = own.read(`#model=${slug}&gpu=${devices}${os ? `&os=${os}` : ""}`);
    own.settle(state, table(slug));
    assert.deepEqual(plain(state.misread), []);
    return plain(answer.roomsOf(state, index));
  };
  const table = slug => {
    if (!fit.tables[slug]) vm.runInContext(readFileSync(join(folder, `data/fit/${slug}.js`), "utf8"), context);
    return fit.tables[slug];
  };
  return { index, table, rooms, look: fit };
}

/** What the scripts say of a case, in the form of the planner's answer. */
function answer(
  { index, table: tableOf, rooms: roomsOf, look },
  { model, quant, setting: asked, devices, os, ...given },
) {
  const { backends } = given;
  const rooms = devices ? roomsOf(model, devices, os) : given.rooms;
  const table = tableOf(model);
  const { driver } = index;
  const profiles = backends.map(all => all.map(at => index.backends[at]));
  const setting = { ...asked, quant: index.quants.indexOf(quant), profiles };
  const needed = look.need(table, setting);
  const verdict = look.judge(needed, rooms, driver);
  if (!needed.devices.every(device => device.total)) return null;
  assert.deepEqual(rooms, given.rooms, `${devices} on ${os}`);
  if (rooms.length > 1) return { verdict };
  const [device] = needed.devices;
  const orNull = count => (count < 0 ? null : count);
  return {
    verdict,
    low: [device.held[0], device.compute[0]],
    bytes: [device.weights, device.cache, device.compute[1], needed.host.weights, needed.host.cache],
    largest: look.largest(table, setting, rooms, driver),
    layers: orNull(look.mostLayers(table, setting, rooms, driver)),
    experts: orNull(look.fewestExperts(table, setting, rooms, driver)),
    plan: verdict === "no" ? look.partInRam(table, setting, rooms, driver, true) : null,
  };
}

/** Cases with a difference, one line each; `contradicts` says whether two answers exclude each other. */
export function differences(scripts, cases, contradicts) {
  return cases.flatMap(each => {
    const found = plain(answer(scripts, each));
    const wrong = contradicts(found, each.answer);
    return wrong.length ? [`${wrong}: ${JSON.stringify(each)}, the script says ${JSON.stringify(found)}`] : [];
  });
}

/** The page counts the cache in RAM as it would be on a GPU, whose rows are padded: at most so much too much. */
const PADDING = 1 << 20;

export function parts(found, told) {
  if (found === null || told === null) return found === told ? [] : ["covered"];
  const padding = found.bytes ? found.bytes[4] - told.bytes[4] : 0;
  if (padding > 0 && padding < PADDING) found.bytes[4] = told.bytes[4];
  return Object.keys(told).filter(name => JSON.stringify(found[name]) !== JSON.stringify(told[name]));
}
/** Over several devices the page knows a range: what it excludes, the planner may not say. */
export function verdicts(found, told) {
  if (found === null || told === null) return parts(found, told);
  return found.verdict === "tight" || found.verdict === told.verdict ? [] : ["verdict"];
}

export default function ({ folder, program }) {
  const file = join(dirname(program), "../tmp/plans.json");
  const isMissing = !existsSync(file) && "cargo test has left no plans";
  const cases = isMissing ? [] : JSON.parse(readFileSync(file, "utf8"));
  const of = count => cases.filter(each => each.rooms.length > 1 === count > 1);

  test("calculator: at 2,000 settings of one device the scripts say what the planner says", { skip: isMissing }, () => {
    const wrong = differences(answers(folder), of(1), parts);
    assert.equal(of(1).length, 2000);
    assert.equal(wrong.length, 0, `${wrong.length} differ:\n${wrong.slice(0, 5).join("\n")}`);
  });

  test(
    "calculator: at 500 settings of several devices the scripts never contradict the planner",
    { skip: isMissing },
    () => {
      const wrong = differences(answers(folder), of(2), verdicts);
      assert.equal(of(2).length, 500);
      assert.equal(wrong.length, 0, `${wrong.length} contradict it:\n${wrong.slice(0, 5).join("\n")}`);
    },
  );
}
