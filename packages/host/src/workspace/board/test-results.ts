/**
 * Whether the tests passed when they last ran, judged by the commands that an agent ran. A command counts only if it
 * names a known test runner and the exit code of the whole line is the runner's.
 */
import type { Turn } from '@atrium/protocol/ahp-1';
import { commandsIn } from '../rewind/calls.js';

const RUNNERS: readonly RegExp[] = [
  /^(?:npm|pnpm|yarn|bun)(?: run)? (?:t|tst|test)(?:[:\s]|$)/,
  /^(?:npx |pnpm exec |yarn |bunx )?(?:vitest|jest|mocha|ava|tap|playwright test|cypress run)(?:\s|$)/,
  /^(?:node --test|deno test|bun test)(?:\s|$)/,
  /^(?:python3? -m )?(?:pytest|unittest)(?:\s|$)|^(?:tox|nox)(?:\s|$)/,
  /^(?:cargo (?:nextest run|test)|go test|dotnet test|mix test|swift test|ctest|rspec|phpunit)(?:\s|$)/,
  /^(?:bundle exec (?:rspec|rake test)|rake test)(?:\s|$)/,
  /^(?:make|gmake|just) (?:test|tests|check)(?:\s|$)/,
  /^(?:\.\/)?(?:mvnw?|gradlew?)(?: \S+)* (?:test|verify|check)(?:\s|$)/,
];

/** Commands before the runner that change nothing about the exit code of the whole line. */
const BEFORE = /^(?:(?:cd|export) [^&|;`$()]+ && )*(?:[A-Z_][A-Z\d_]*=[^\s&|;`$()]* )*/;

/** The test runner in a line whose exit code is that of the tests. */
export function testCommandIn(line: string): string | undefined {
  const whole = line
    .trim()
    .replace(/[ \t]+/g, ' ')
    .replace(/ (?:2>&1|>\S+ 2>&1)$/, '');
  const rest = whole.replace(BEFORE, '');
  if (/[;&|`\n]|\$\(/.test(rest)) return undefined;
  return RUNNERS.some((runner) => runner.test(rest)) ? rest : undefined;
}

export function lastTests(turns: readonly Turn[]): { readonly command: string; readonly passed: boolean } | undefined {
  for (const turn of turns.toReversed()) {
    for (const { command, success } of commandsIn(turn).reverse()) {
      const found = testCommandIn(command);
      if (found !== undefined) return { command: found, passed: success };
    }
  }
  return undefined;
}
