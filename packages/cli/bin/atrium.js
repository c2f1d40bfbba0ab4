#!/usr/bin/env node
/** Starts the bundle if there is one of the same build as the compiled packages, and those otherwise. */
const { readFileSync, statSync } = require('node:fs');
const path = require('node:path');

const BUNDLE = path.join(__dirname, '..', 'dist', 'bundle');

if (isCurrent()) require(path.join(BUNDLE, 'atrium.cjs'));
else import('../dist/main.js');

/** The compiler writes a file in each package that it builds; the bundle knows how they were when it was made. */
function isCurrent() {
  try {
    /** @type {{ file: string, mtimeMs: number }[]} */
    const builds = JSON.parse(readFileSync(path.join(BUNDLE, 'builds.json'), 'utf8'));
    return builds.every(({ file, mtimeMs }) => statSync(path.join(BUNDLE, file)).mtimeMs === mtimeMs);
  } catch {
    return false;
  }
}
