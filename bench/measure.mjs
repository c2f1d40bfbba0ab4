/** Timing shared by all benchmarks: every figure is a ratio of two things measured in turn, in the same run. */

/** Nanoseconds per call of `work`, which makes `count` steps when called. */
export function nanosecondsPerStep(work, count) {
  const start = process.hrtime.bigint();
  work(count);
  return Number(process.hrtime.bigint() - start) / count;
}

/** Measures the candidates in turn, several rounds, and keeps the best of each: noise only ever adds time. */
export function bestOf(rounds, count, candidates) {
  const names = Object.keys(candidates);
  const best = Object.fromEntries(names.map((name) => [name, Number.POSITIVE_INFINITY]));
  for (const name of names) candidates[name](Math.ceil(count / 10));
  for (let round = 0; round < rounds; round++) {
    for (const name of names) best[name] = Math.min(best[name], nanosecondsPerStep(candidates[name], count));
  }
  return best;
}

export function rounded(value, digits = 3) {
  return Number(value.toFixed(digits));
}

/** Prints the figures with what they are held against: one JSON object for programs, a table for people. */
export function report(figures, targets) {
  if (process.argv.includes('--json')) return console.log(JSON.stringify({ ...figures, targets }));
  for (const [name, value] of Object.entries(figures)) {
    console.log(`${name.padEnd(32)} ${String(value).padStart(12)}   ${targets[name] ?? ''}`);
  }
}
