import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { membersBesideEdits, toolInputMembers, toolInputObject } from '../src/ahp-1/chat/tool-input.js';

const raw = (text: string) => [{ name: '', text, isText: true }];

describe('the input of a tool call for people', () => {
  it('is its members, however the JSON is written', () => {
    const input = '{ "command": "caf\\u00e9\\n",\n "count" : 2, "deep": {"a": [true, null]} }';
    expect(toolInputMembers(input)).toEqual([
      { name: 'command', text: 'café\n', isText: true },
      { name: 'count', text: '2', isText: false },
      { name: 'deep', text: JSON.stringify({ a: [true, null] }, null, 2), isText: false },
    ]);
    expect(toolInputMembers('')).toEqual([]);
  });

  it.each([
    ['a name that stands there twice', '{"command":"ls","command":"rm -rf /"}'],
    ['a name that stands there twice deep inside', '{"a":{"b":1,"b":2}}'],
    ['a number that would be rounded', '{"id":12345678901234567890}'],
    ['a number that would become nothing', '{"n":1e999}'],
    ['a list', '["rm"]'],
    ['no JSON', '{"command":'],
  ])('[REL-051] is the text as it is for %s', (_, input) => {
    expect(toolInputMembers(input)).toEqual(raw(input));
    expect(toolInputObject(input)).toBeUndefined();
  });

  it('[REL-051] says every member of any object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), (object) => {
        const input = JSON.stringify(object);
        const members = toolInputMembers(input);
        // Minus zero and the like are written differently when they are read again.
        if (members[0]?.name === '' && members[0].text === input) return;
        const read = members.map(({ name, text, isText }) => [name, isText ? text : JSON.parse(text)]);
        expect(Object.fromEntries(read)).toEqual(JSON.parse(input));
      }),
    );
  });

  const edit = { uri: 'file:///srv/app/a%20b.txt', before: 'one\ntwo\n', after: 'one\nTWO\n' };
  const beside = (input: object, edits = [edit]) =>
    membersBesideEdits(toolInputMembers(JSON.stringify(input)), edits).map(({ name }) => name);

  it('[REL-051] is left out beside a diff only where the diff says the same', () => {
    expect(beside({ path: 'a b.txt', content: 'one\nTWO\n' })).toEqual([]);
    expect(beside({ path: 'a b.txt', oldText: 'two', newText: 'TWO', all: true })).toEqual(['all']);
    expect(beside({ path: 'b.txt', content: 'other', mode: 'one' })).toEqual(['path', 'content', 'mode']);
    expect(beside({ path: 'a b.txt', content: 'x' }, [{ ...edit, after: edit.before }])).toEqual(['path', 'content']);
    expect(beside({ command: 'one' })).toEqual(['command']);
  });
});
