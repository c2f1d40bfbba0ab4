import {
  FILE_PLACE_IN_TEXT,
  FILE_REFERENCE_MAX_CHARACTERS,
  fileReferenceUri,
  isFileName,
  readFileReference,
} from '@atrium/protocol/ahp-1';
import { expect, it } from 'vitest';

it.each([
  ['src/app.ts:12', { path: 'src/app.ts', line: 12 }],
  ['src/app.ts:12:5', { path: 'src/app.ts', line: 12, column: 5 }],
  ['src/app.ts:12-20', { path: 'src/app.ts', line: 12 }],
  ['app.ts#L12', { path: 'app.ts', line: 12 }],
  ['app.ts#L12-L14', { path: 'app.ts', line: 12 }],
  ['C:\\src\\app.ts:3', { path: 'C:\\src\\app.ts', line: 3 }],
  ['file:///srv/app.ts#L7', { path: 'file:///srv/app.ts', line: 7 }],
  ['README.md', { path: 'README.md' }],
  ['app.ts:0', { path: 'app.ts' }],
  ['https://example.org/a.ts', undefined],
  ['javascript:alert(1)', undefined],
  ['//server/share', undefined],
  ['#part', undefined],
  ['a\u202eb.ts:1', undefined],
  ['a\u001bb.ts:1', undefined],
  ['', undefined],
])('%s is read as a place in a file [DAY-101]', (text, place) => {
  expect(readFileReference(text)).toEqual(place);
});

it('a reference has a limit of length [DAY-101]', () => {
  expect(readFileReference('a'.repeat(FILE_REFERENCE_MAX_CHARACTERS))).toBeDefined();
  expect(readFileReference('a'.repeat(FILE_REFERENCE_MAX_CHARACTERS + 1))).toBeUndefined();
});

it.each([
  ['see src/app.ts:12, and', 'src/app.ts:12'],
  ['at /srv/app.py:3:4.', '/srv/app.py:3:4'],
  ['main.go:7', 'main.go:7'],
  ['example.com:443', undefined],
  ['http://a.b/app.ts:12', undefined],
  ['12:30', undefined],
])('in "%s" is the place %s [DAY-101]', (text, place) => {
  expect(FILE_PLACE_IN_TEXT.exec(text)?.[0]).toBe(place);
});

it('code names a file by a line, or by a folder and an ending [DAY-101]', () => {
  expect(['src/app.ts', 'app.ts:1', './a/b.md'].every(isFileName)).toBe(true);
  expect(['app.ts', 'application/json', 'a.b()', 'x', 'foo.bar/baz'].some(isFileName)).toBe(false);
});

it.each([
  ['src/app.ts', 'file:///srv/x', 'file:///srv/x/src/app.ts'],
  ['../a b.ts', 'file:///srv/x/', 'file:///srv/a%20b.ts'],
  ['/etc/a#b', undefined, 'file:///etc/a%23b'],
  ['a%20b', 'file:///srv', 'file:///srv/a%20b'],
  ['100%', 'file:///srv', 'file:///srv/100%25'],
  ['C:\\a\\b.ts', undefined, 'file:///C:/a/b.ts'],
  ['../../../..', 'file:///srv', 'file:///'],
  ['file://server/a', undefined, undefined],
  ['src/app.ts', undefined, undefined],
  ['src/app.ts', 'vscode-remote:/x', undefined],
  ['~/a.ts', 'file:///srv', undefined],
])('%s seen from %s is %s [DAY-101]', (path, folder, uri) => {
  expect(fileReferenceUri(path, folder)).toBe(uri);
});
