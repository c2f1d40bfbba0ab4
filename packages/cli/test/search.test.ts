/** Search in the terminal: the command, /search and /find. */
import type { SearchItem } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { FoundView } from '../src/chat/found.js';
import { PLAIN } from '../src/text/style.js';
import { openChat, PROMPT, say } from './support/chat.js';
import { isBuilt, sharedHost } from './support/host.js';
import { hasTmux } from './support/terminal.js';

const item = (turn: number): SearchItem => ({
  ...{ session: 'ahp-session:/s', chat: 'ahp-chat:/c', turnId: `t${turn}`, turn, kind: 'answer', title: 'Herons' },
  ...{ time: new Date().toISOString(), snippet: '', ranges: [], provider: 'mock' },
});

describe('the turns that were found', () => {
  it('[DAY-023] go from one to the next and back, and begin where the words stand', () => {
    const phrases = [{ words: ['heron'], isPrefix: false }];
    const view = new FoundView({ items: [item(9), item(4)], phrases, first: 0, enter: 'goes back' });
    const style = { ...PLAIN, inverse: (text: string) => `[${text}]` };
    const lines = () => view.lines({ style, columns: 60, rows: 10 }).join('\n');
    expect(lines()).toContain('hit 1 of 2 · turn 10');
    view.loaded(item(4), 'of another turn');
    view.loaded(view.item, `${'above\n'.repeat(30)}Here a Heron stands\nbelow`);
    expect(lines()).toContain('[Heron] stands\nbelow');
    view.press({ name: 'text', text: 'n' });
    expect([view.item.turn, lines().includes('…')]).toEqual([4, true]);
    view.press({ name: 'text', text: 'n' });
    expect(view.item.turn).toBe(4);
    view.press({ name: 'text', text: 'p' });
    expect(view.press({ name: 'enter' })).toBe(view.item);
    expect(view.item.turn).toBe(9);
  });
});

describe.skipIf(!isBuilt || !hasTmux)(
  'search in a terminal (skipped unless it has been built and tmux is here)',
  { timeout: 60_000 },
  () => {
    const shared = sharedHost();

    it('[DAY-020] [DAY-023] finds turns from the shell, and in a chat in all sessions or in this one', async () => {
      const host = shared();
      await host.run(['run', 'a heron by the lake']);
      await expect
        .poll(async () => (await host.run(['search', 'heron', '--json'])).stdout, { timeout: 20_000 })
        .toContain('a heron by the lake');
      const { stdout } = await host.run(['search', 'hero*', '--agent', 'mock', '--since', '1d']);
      expect(stdout).toMatch(/turn 1 {2}\d+s ago {2}(message|answer)\n.*heron by the lake/);
      expect((await host.run(['search'])).code).toBe(2);
      expect((await host.run(['search', 'heron', '--since', 'never'])).stderr).toContain('write a day');
      const { terminal } = await openChat('chat', { host });
      await terminal.sees(PROMPT);
      await say(terminal, '/search lake');
      await terminal.sees(/Found for lake:[\s\S]*heron by the lake/);
      terminal.keys('Enter');
      await terminal.sees(/hit 1 of 1 · turn 1[\s\S]*> a heron by the lake[\s\S]*N next · P previous/);
      terminal.keys('Enter');
      await terminal.sees(/You said: a heron by the lake[\s\S]*write a message/);
      await say(terminal, '/find heron');
      await terminal.sees(/hit 1 of 1/);
      terminal.keys('Escape');
      await terminal.sees(PROMPT);
    });
  },
);
