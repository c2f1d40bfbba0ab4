import { SessionStatus, type SessionSummary } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { sessionPicker } from '../../src/chat/picker.js';
import { PLAIN } from '../../src/text/style.js';

const NOW = new Date().toISOString();
const session = (id: string, title: string): SessionSummary => ({
  ...{ resource: `ahp-session:/${id}`, provider: 'mock', title, status: SessionStatus.Idle },
  ...{ createdAt: NOW, modifiedAt: NOW, workingDirectories: ['file:///srv/app'] },
});
const items = Array.from({ length: 50 }, (_, index) => session(`s${index}`, `Session ${index} 日本`));
const view = (columns: number, rows = 20) => ({ style: PLAIN, columns, rows });
const type = (text: string) => ({ name: 'text', text });

describe('the list of sessions', () => {
  it('finds by what is typed, and opens nothing when nothing fits', () => {
    const picker = sessionPicker(items);
    picker.press(type('ession 4'));
    picker.press(type('2'));
    expect(picker.lines('leaves', view(80)).slice(1, -1)).toHaveLength(1);
    expect(picker.press({ name: 'enter' })).toBe(items[42]);
    picker.press(type('zz'));
    expect(picker.press({ name: 'enter' })).toBeUndefined();
    expect(picker.lines('leaves', view(80)).join('\n')).toContain('No session fits');
    for (let press = 0; press < 20; press += 1) picker.press({ name: 'backspace' });
    expect(picker.press({ name: 'enter' })).toBe(items[0]);
  });

  it('stays within the window, with the marked one in sight', () => {
    const picker = sessionPicker(items);
    for (let press = 0; press < 3; press += 1) picker.press({ name: 'pagedown' });
    for (const columns of [40, 80, 140]) {
      const lines = picker.lines('goes back', view(columns));
      expect(lines.length).toBeLessThanOrEqual(18);
      expect(lines.some((line) => line.startsWith('› Session 30'))).toBe(true);
      expect(lines.join('\n').includes('s30')).toBe(columns > 70);
    }
    expect(picker.lines('goes back', view(40))[1]).toContain('idle');
  });

  it('leaves archived sessions out, says how many there are, and finds them', () => {
    const archived = { ...session('a', 'Old one'), status: SessionStatus.Idle | SessionStatus.IsArchived };
    const picker = sessionPicker([archived, session('b', 'New one')]);
    const text = () => picker.lines('leaves', view(80)).join('\n');
    expect(text()).toContain('New one');
    expect(text()).not.toContain('Old one');
    expect(text()).toContain('1 archived: type "archived" to see them');
    picker.press(type('archived'));
    expect(text()).toMatch(/Old one +archived/);
    expect(picker.press({ name: 'enter' })).toBe(archived);
    expect(sessionPicker([archived]).press({ name: 'enter' })).toBe(archived);
  });

  it('tells who would rather not from who interrupts', () => {
    expect(sessionPicker(items).press({ name: 'escape' })).toBe('escape');
    expect(sessionPicker(items).press({ name: 'c', ctrl: true })).toBe('interrupt');
  });
});

describe('the order of the list', () => {
  it('[DAY-031] [DAY-033] is that of the page: pinned ones, then by project, with copies below their source', () => {
    const at = (id: string, folder: string, more: Partial<SessionSummary> = {}) => ({
      ...session(id, id),
      workingDirectories: [`file:///srv/${folder}`],
      ...more,
    });
    const picker = sessionPicker([
      at('first', 'app', { modifiedAt: '2026-03-01T00:00:00Z' }),
      at('copy', 'app', { _meta: { 'atrium.forkOf': 'ahp-session:/first' } }),
      at('other', 'blog', { modifiedAt: '2026-02-01T00:00:00Z' }),
      at('pinned', 'blog', { modifiedAt: '2026-01-01T00:00:00Z', _meta: { 'atrium.pinned': true } }),
    ]);
    const titles = picker.lines('leaves', view(60)).map((line) => line.slice(2).split('  ')[0]);
    expect(titles.slice(1, 5)).toEqual(['* pinned', 'first', '└ copy', 'other']);
  });
});
