import { describe, expect, it } from 'vitest';
import { type Key, KeyReader } from '../../src/chat/keys.js';

function read(...chunks: string[]): Key[] {
  const keys: Key[] = [];
  const reader = new KeyReader((key) => keys.push(key));
  for (const chunk of chunks) reader.feed(chunk);
  reader.close();
  return keys;
}

describe('keys', () => {
  it('reads text, controls, arrows and what is held with them', () => {
    expect(read('hé👍')).toEqual([{ name: 'text', text: 'hé👍' }]);
    expect(read('a\r')).toEqual([{ name: 'text', text: 'a' }, { name: 'enter' }]);
    expect(read('\u0003\n\u007f')).toEqual([{ name: 'c', ctrl: true }, { name: 'newline' }, { name: 'backspace' }]);
    expect(read('\u001b[A\u001bOB\u001b[1;5C\u001b[3~')).toEqual([
      { name: 'up' },
      { name: 'down' },
      { name: 'right', ctrl: true },
      { name: 'delete' },
    ]);
    expect(read('\u001b\r\u001bb\u001b[13;2u')).toMatchObject([
      { name: 'enter', alt: true },
      { name: 'b', alt: true },
      { name: 'enter', shift: true },
    ]);
  });

  it('takes a paste as one piece, wherever it is cut', () => {
    const pasted = [{ name: 'paste', text: 'one\ntwo' }, { name: 'enter' }];
    expect(read('\u001b[200~one\r\ntwo\u001b[201~\r')).toEqual(pasted);
    expect(read(...'\u001b[200~one\r\ntwo\u001b[201~\r')).toEqual(pasted);
  });

  it('waits a moment to tell Escape from a sequence', async () => {
    expect(read('\u001b')).toEqual([]);
    expect(read('\u001b', '[A')).toEqual([{ name: 'up' }]);
    const keys: Key[] = [];
    new KeyReader((key) => keys.push(key)).feed('\u001b');
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(keys).toEqual([{ name: 'escape' }]);
  });
});
