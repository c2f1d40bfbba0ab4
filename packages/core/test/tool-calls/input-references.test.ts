/** Long tool input by reference, by itself. */
import { describe, expect, it } from 'vitest';
import { INPUT_SCHEME, InputReferences, inputIn, namedInput } from '../../src/tool-calls/input-references.js';
import { INLINE_TEXT_MAX_CHARACTERS, REFERENCED_INPUT_MAX_BYTES } from '../../src/tool-calls/limits.js';

const references = new InputReferences({ inlineMaxCharacters: 4 });
const place = { chat: 'ahp-chat:/c', turnId: 't', toolCallId: 'k' };

describe('long tool input', () => {
  it('[REL-098] is named above its limit, up to what one answer can carry, and if it is whole characters', () => {
    expect(['abcd', 'abcde', '', undefined, { uri: 'x' }].map((input) => references.has(input as never))).toEqual([
      ...[false, true, false, false, false],
    ]);
    const most = 'é'.repeat(REFERENCED_INPUT_MAX_BYTES / 2);
    expect([references.has(most), references.has(`${most}x`)]).toEqual([true, false]);
    expect([references.has('smile 😀'), references.has('half \ud83d')]).toEqual([true, false]);
    expect(new InputReferences().inlineMaxCharacters).toBe(INLINE_TEXT_MAX_CHARACTERS);
  });

  it('[REL-098] is found by its name, and not when it is another one now', () => {
    const text = 'é'.repeat(5);
    const named = references.referTo({ ...place, text });
    expect(named).toMatchObject({ sizeHint: 10, contentType: 'text/plain' });
    expect(references.referTo({ ...place, text: 'abcd' })).toBeUndefined();
    const input = namedInput(named?.uri ?? '');
    expect(input).toMatchObject(place);
    const call = (toolCallId: string, more: object) => ({ kind: 'toolCall', toolCall: { toolCallId, ...more } });
    const find = (...responseParts: object[]) => input && inputIn({ responseParts } as never, input);
    expect(find({ kind: 'markdown' }, call('k', {}), call('k', { toolInput: text }))).toBe(text);
    expect(find(call('other', { toolInput: text }))).toBeUndefined();
    expect(find(call('k', { toolInput: `${text}!` }))).toBeUndefined();
    expect(find(call('k', { toolInput: { uri: 'x' } }))).toBeUndefined();
  });

  it.each([
    ['of another kind', `file:///${'a'.repeat(64)}`],
    ['without a hash', `${INPUT_SCHEME}/WyJhIiwiYiIsImMiXQ/`],
    ['with something before it', `x${INPUT_SCHEME}/WyJhIiwiYiIsImMiXQ/${'a'.repeat(64)}`],
    ['with something behind it', `${INPUT_SCHEME}/WyJhIiwiYiIsImMiXQ/${'a'.repeat(65)}`],
    ['of a place that is no JSON', `${INPUT_SCHEME}/AAAA/${'a'.repeat(64)}`],
    ['of a place that has a number', `${INPUT_SCHEME}/${btoa('["a","b",1]')}/${'a'.repeat(64)}`],
  ])('a name %s names nothing', (_, uri) => {
    expect(namedInput(uri)).toBeUndefined();
    expect(namedInput(`${INPUT_SCHEME}/WyJhIiwiYiIsImMiXQ/${'a'.repeat(64)}`)).toMatchObject({ toolCallId: 'c' });
  });
});
