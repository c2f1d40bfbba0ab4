import { describe, expect, it } from 'vitest';
import { planLines } from '../../src/chat/plan-lines.js';
import { PLAIN } from '../../src/text/style.js';

const linesOf = (plan: string) => planLines(plan, { style: PLAIN, columns: 60 });

describe('a plan in the terminal', () => {
  it('is shown as people read it, with addresses, tables and code [DAY-115]', () => {
    const plan = [
      '# Vouchers',
      '',
      '1. Add `src/voucher.js` with **one function**',
      '2. Test it:',
      '   - a voucher of 10 %',
      '   - [ ] one that has expired',
      '3. See the [README](docs/README.md)',
      '',
      '| File | Change |',
      '|---|---|',
      '| a.js | new |',
      '',
      '```js',
      'apply(10); // 180',
      '```',
    ].join('\n');
    const lines = linesOf(plan) ?? [];
    expect(lines.join('\n')).not.toMatch(/[#*`|]{2}|`src|\]\(/);
    expect(lines).toContain('  Vouchers');
    expect(lines.join('\n')).toMatch(/1\. Add src\/voucher\.js with one function/);
    expect(lines.join('\n')).toContain('README (docs/README.md)');
    expect(lines.join('\n')).toContain('apply(10); // 180');
  });

  it.each([
    ['a comment', 'Read it\n\n<!-- SECRET -->\n\nend'],
    ['a title of a link', '[words](https://example.org "SECRET")'],
    ['what cannot be seen', 'Read\u200b it'],
    ['a cell beyond the last column', '| a |\n|---|\n| b | SECRET |'],
    ['where a reference leads', '[words][1]\n\n[1]: https://example.org/SECRET'],
  ])('is shown as it is written where formatting would hide some of it: %s [DAY-115]', (_, plan) => {
    const lines = linesOf(plan);
    if (lines !== undefined) expect(lines.join('\n')).toContain('SECRET');
  });
});
