/**
 * Loaded before the command: keeps the scripts that a start compiles, with their compiled code, in the folder that the
 * environment names, and ends the process.
 */
const { mkdirSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

/** By then a host has started and compiled what its start needs. */
const STARTED_MS = 3_000;
const { Script } = vm;
const folder = process.env.ATRIUM_BENCH_CODE;
const scripts = [];

vm.Script = class extends Script {
  constructor(source, options) {
    super(source, options);
    // A file of the bundle is a function; running the script only makes it.
    if (source.startsWith('(function (exports')) scripts.push({ source, script: this });
  }
};

setTimeout(() => {
  mkdirSync(folder, { recursive: true });
  for (const [at, { source, script }] of scripts.entries()) {
    writeFileSync(path.join(folder, `${at}.cjs`), source);
    writeFileSync(path.join(folder, `${at}.code`), script.createCachedData());
  }
  process.exit(0);
}, STARTED_MS);
