import { describe, expect, it } from 'vitest';
import { wordsOf } from '../src/exit.js';
import { folderText } from '../src/sessions/words.js';

describe('words', () => {
  it.each([
    ['file:///srv/app', '/srv/app'],
    ['file://other-machine/share', 'file://other-machine/share'],
    ['file:///srv/a%2Fb', 'file:///srv/a%2Fb'],
    ['vscode-remote://ssh/srv', 'vscode-remote://ssh/srv'],
    [undefined, ''],
  ])('of the folder %s are %s', (uri, text) => {
    expect(folderText(uri)).toBe(text);
  });

  it('of an error are never empty, and speak to people', () => {
    expect(wordsOf(new AggregateError([]))).toBe('AggregateError');
    const lost = Object.assign(new Error('x: wait for the status "open"'), { name: 'DisconnectedError' });
    expect(wordsOf(lost)).toBe('the host is not there right now; try again when it is back');
  });
});
