import type { CompletionItem, MessageAttachment } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { Completer, Mentions } from '../../src/chat/completer.js';
import { Editor } from '../../src/chat/editor.js';

const attachment = (label: string): MessageAttachment => ({
  ...{ type: 'simple', label, displayKind: 'skill' },
  _meta: { uri: `file:///${label}`, deep: { kept: [1, null] } },
});

/** A line in which the host finds these names behind `@` and `/`. */
function line(text: string, names: readonly string[], answered: Promise<unknown> = Promise.resolve()) {
  const editor = new Editor(text);
  const mentions = new Mentions();
  const asked: string[] = [];
  const find = async (typed: string, offset: number): Promise<CompletionItem[]> => {
    asked.push(typed);
    await answered;
    const rangeStart = typed.slice(0, offset).search(/[@/]\S*$/);
    const trigger = typed[rangeStart];
    return names.map((name) => ({
      ...{ insertText: `${trigger}${name} `, rangeStart, rangeEnd: offset, attachment: attachment(name) },
    }));
  };
  const completer = new Completer({
    editor,
    mentions,
    find,
    triggers: () => ['@', '/'],
    facts: () => ({ models: [] }),
    changed: () => {},
  });
  return { editor, mentions, completer, asked };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

describe('Tab', () => {
  it('completes commands of the chat without asking anybody', () => {
    const { editor, completer, asked } = line('/mo', []);
    completer.press(1);
    expect(editor.text).toBe('/model ');
    expect(asked).toEqual([]);
  });

  it('takes what the host finds, in the middle of a text, and goes through the rest', async () => {
    const { editor, completer } = line('see @a please', ['a.txt', 'ab.txt']);
    editor.cursor = 'see @a'.length;
    completer.press(1);
    await settled();
    expect(editor.text).toBe('see @a.txt please');
    expect(editor.cursor).toBe('see @a.txt '.length);
    completer.press(1);
    expect(editor.text).toBe('see @ab.txt please');
    expect(completer.menu.index).toBe(1);
    completer.press(-1);
    expect(editor.text).toBe('see @a.txt please');
  });

  it('leaves the line alone when somebody typed on before the answer came', async () => {
    let answer = () => {};
    const { editor, completer } = line('@a', ['a.txt'], new Promise<void>((resolve) => (answer = resolve)));
    completer.press(1);
    editor.insert('x');
    completer.follow();
    answer();
    await settled();
    expect(editor.text).toBe('@ax');
    completer.close();
  });

  it('asks nobody where there is nothing to complete', async () => {
    const { editor, completer, asked } = line('me@home', ['a.txt']);
    completer.press(1);
    await settled();
    expect(editor.text).toBe('me@home');
    expect(asked).toEqual([]);
  });
});

describe('what was taken', () => {
  it('[CLI-027] goes along with the message as the host gave it, while its word is there', async () => {
    const { editor, completer, mentions } = line('/', ['deploy']);
    editor.set('/dep');
    completer.press(1);
    await settled();
    expect(mentions.take(`${editor.text}now`)).toEqual([attachment('deploy')]);
    expect(mentions.take('/deployed')).toEqual([]);
    expect(mentions.take('run (/deploy), then rest')).toEqual([attachment('deploy')]);
  });

  it('comes back with a message that was taken back, once', () => {
    const { mentions } = line('', []);
    mentions.carry([attachment('picture')]);
    expect(mentions.take('look')).toEqual([attachment('picture')]);
    expect(mentions.take('look')).toEqual([]);
  });
});
