import { describe, expect, it } from 'vitest';
import { Editor } from '../../src/chat/editor.js';
import { editorView } from '../../src/chat/editor-view.js';
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
});
