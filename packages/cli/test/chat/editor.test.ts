import { describe, expect, it } from 'vitest';
import { Editor, editorView } from '../../src/chat/editor.js';
import { PLAIN } from '../../src/text/style.js';

function typed(text: string, ...keys: string[]): Editor {
  const editor = new Editor(text);
  for (const key of keys) {
    const [modifier, name] = key.includes('-') ? key.split('-') : ['', key];
    editor.press({
      name: name ?? key,
      ...(modifier === 'ctrl' && { ctrl: true }),
      ...(modifier === 'alt' && { alt: true }),
    });
  }
  return editor;
}

describe('the editor', () => {
  it('begins the history with the newest again once the text was thrown away', () => {
    const editor = new Editor('');
    for (const text of ['one', 'two', 'three']) editor.remember(text);
    for (let times = 0; times < 3; times += 1) editor.press({ name: 'up' });
    expect(editor.text).toBe('one');
    editor.clear();
    editor.press({ name: 'up' });
    expect(editor.text).toBe('three');
  });

  it('moves and deletes by what people see as one letter', () => {
    expect(typed('a👍🏽', 'backspace').text).toBe('a');
    expect(typed('a👍🏽', 'left', 'backspace').text).toBe('👍🏽');
    expect(typed('ab', 'home', 'delete').text).toBe('b');
    expect(typed('one two', 'ctrl-w').text).toBe('one ');
    expect(typed('one two', 'alt-b', 'ctrl-k').text).toBe('one ');
    expect(typed('one two', 'ctrl-u').text).toBe('');
  });

  it('goes up and down between lines, and then through what was written', () => {
    const editor = new Editor();
    for (const text of ['first', 'second']) editor.remember(text);
    editor.set('draft\nbelow');
    editor.press({ name: 'up' });
    expect(editor.cursor).toBe(5);
    editor.press({ name: 'up' });
    expect(editor.text).toBe('second');
    editor.press({ name: 'up' });
    expect(editor.text).toBe('first');
    for (let presses = 0; presses < 3; presses += 1) editor.press({ name: 'down' });
    expect(editor.text).toBe('draft\nbelow');
  });

  it('shows the cursor where the next letter goes', () => {
    const view = (text: string, columns = 20) => editorView(new Editor(text), { style: PLAIN, columns });
    expect(view('')).toEqual({ lines: ['> '], cursor: { row: 0, column: 2 } });
    expect(view('日本')).toMatchObject({ cursor: { row: 0, column: 6 } });
    expect(view('a\nbc')).toEqual({ lines: ['> a', '  bc'], cursor: { row: 1, column: 4 } });
    expect(view('x'.repeat(30)).lines).toHaveLength(2);
    expect(view('\n'.repeat(40)).lines.length).toBeLessThan(20);
  });

  it('shows the part around the cursor, at the cost of what is shown', () => {
    const text = Array.from({ length: 50_000 }, (_, index) => `line ${index} 日本`).join('\n');
    const editor = new Editor(text);
    // Were all of it laid out each time, this would take longer than a test may.
    for (let press = 0; press < 200; press += 1) {
      editor.press({ name: 'left' });
      editor.press({ name: 'w', ctrl: true });
      editorView(editor, { style: PLAIN, columns: 80 });
    }
    const { lines, cursor } = editorView(new Editor(text), { style: PLAIN, columns: 80 });
    expect(lines).toHaveLength(12);
    expect(lines[0]).toBe('⋮ line 49988 日本');
    expect(cursor.row).toBe(11);
  });

  it('shows one very long line, and its beginning when the cursor is there', () => {
    const editor = new Editor('x'.repeat(100_000));
    expect(editorView(editor, { style: PLAIN, columns: 42 }).lines).toHaveLength(12);
    editor.press({ name: 'home' });
    const { lines, cursor } = editorView(editor, { style: PLAIN, columns: 42 });
    expect(lines[0]).toMatch(/^> x+$/);
    expect(cursor).toEqual({ row: 0, column: 2 });
    const top = new Editor('\nsecond');
    top.cursor = 0;
    expect(editorView(top, { style: PLAIN, columns: 42 })).toMatchObject({
      lines: ['> ', '  second'],
      cursor: { row: 0 },
    });
  });
});
