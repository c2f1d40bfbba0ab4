import { describe, expect, it } from 'vitest';
import { Screen } from '../../src/chat/screen.js';

class FakeOutput {
  columns = 40;
  rows = 10;
  written = '';
  write(text: string): boolean {
    this.written += text;
    return true;
  }
  take(): string {
    const { written } = this;
    this.written = '';
    return written;
  }
}

const frame = (...lines: string[]) => ({ lines, cursor: { row: lines.length - 1, column: 0 } });

describe('the screen', () => {
  it('writes nothing when nothing changed, and only what changed otherwise', () => {
    const out = new FakeOutput();
    const screen = new Screen(out);
    screen.update([], frame('one', 'two', 'three'));
    expect(out.take()).toContain('one\r\ntwo\r\nthree');
    screen.update([], frame('one', 'two', 'three'));
    expect(out.take()).toBe('');
    screen.update([], frame('one', 'two', 'THREE'));
    const written = out.take();
    expect(written).toContain('THREE');
    expect(written).not.toContain('two');
  });

  it('lets finished lines go up once', () => {
    const out = new FakeOutput();
    const screen = new Screen(out);
    screen.update(['done'], frame('live'));
    out.take();
    screen.update([], frame('live!'));
    expect(out.take()).not.toContain('done');
  });

  it('never draws more than fits', () => {
    const out = new FakeOutput();
    new Screen(out).update([], frame(...Array.from({ length: 30 }, (_, index) => `line ${index}`)));
    const written = out.take();
    expect(written).toContain('… 22 more lines');
    expect(written.split('\r\n')).toHaveLength(9);
  });

  it('lets the terminal wrap what is finished, and never what still changes', () => {
    const out = new FakeOutput();
    new Screen(out).update(['gone'], frame('live'));
    const written = out.take();
    const [off, on] = ['\u001b[?7l', '\u001b[?7h'].map((code) => written.indexOf(code));
    expect(written.indexOf('gone')).toBeLessThan(off ?? 0);
    expect(written.indexOf('live')).toBeGreaterThan(off ?? 0);
    expect(written.indexOf('live')).toBeLessThan(on ?? 0);
  });
});
