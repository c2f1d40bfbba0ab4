import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Ticker } from '../src/run/report.js';

class FakeTerminal {
  isTTY = true;
  written = '';
  write(text: string): boolean {
    this.written += text;
    return true;
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the word that work goes on', () => {
  it('comes after a silence, and is taken back before anything else', () => {
    const out = new FakeTerminal();
    const ticker = new Ticker(out, {});
    vi.advanceTimersByTime(1_900);
    expect(out.written).toBe('');
    vi.advanceTimersByTime(1_100);
    expect(out.written).toContain('… working, 3 s');
    out.written = '';
    ticker.hush(true);
    expect(out.written).toBe('\r\u001b[K');
    ticker.stop();
  });

  it('never comes into the middle of a line, nor where nobody looks', () => {
    const out = new FakeTerminal();
    const ticker = new Ticker(out, {});
    ticker.hush(false);
    vi.advanceTimersByTime(10_000);
    expect(out.written).toBe('');
    ticker.stop();
    const file = Object.assign(new FakeTerminal(), { isTTY: false });
    const dumb = new FakeTerminal();
    const others = [new Ticker(file, {}), new Ticker(dumb, { TERM: 'dumb' })];
    vi.advanceTimersByTime(10_000);
    for (const each of others) each.stop();
    expect(file.written + dumb.written).toBe('');
  });
});
