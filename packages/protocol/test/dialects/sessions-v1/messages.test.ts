import { describe, expect, it } from 'vitest';
import {
  baseName,
  contentRefToWire,
  fileUriFromPath,
  messageFromWire,
  messageToWire,
  pathFromFileUri,
} from '../../../src/dialects/sessions-v1/messages.js';
import type { SessionsV1Attachment } from '../../../src/dialects/sessions-v1/wire.js';
import type { MessageAttachment } from '../../../src/session/messages.js';

function attached(attachment: MessageAttachment) {
  return messageToWire({ text: '', attachments: [attachment] }).attachments;
}

describe('sessions-v1 messages', () => {
  it('[V1-039] have text and attachments, no metadata', () => {
    expect(messageToWire({ text: 'Hi', _meta: { a: 1 } })).toEqual({ text: 'Hi' });
    expect(messageFromWire({ text: 'Hi' })).toEqual({ text: 'Hi' });
  });

  it.each([
    ['[ci-watcher/builds] CI failed', '[ci-watcher] CI failed'],
    ['Look at the failing test.', '[ci-watcher] Look at the failing test.'],
    ['[other/builds] x', '[ci-watcher] [other/builds] x'],
  ])('[UNI-057] [UNI-079] say in the text that a provider wrote %j', (text, shown) => {
    const message = { text, _meta: { gateway: { provider: 'ci-watcher', stream: 'builds' } } };
    expect(messageToWire(message)).toEqual({ text: shown });
  });

  it.each([{ gateway: 'ci' }, { gateway: null }, { gateway: { provider: 7 } }])(
    '[V1-039] take nothing from metadata that names no provider: %j',
    (_meta) => expect(messageToWire({ text: 'Hi', _meta })).toEqual({ text: 'Hi' }),
  );

  it.each([
    ['document', 'file'],
    [undefined, 'file'],
    ['directory', 'directory'],
    ['selection', 'selection'],
  ] as const)('[V1-038] show a %s as a %s', (displayKind, type) => {
    const attachment = { type: 'resource' as const, uri: 'file:///srv/a.ts', label: 'a', displayKind };
    expect(attached(attachment)).toEqual([{ type, path: '/srv/a.ts', displayName: 'a' }]);
  });

  it('[V1-038] drop what is not a file', () => {
    expect(attached({ type: 'simple', label: 'note' })).toEqual([]);
    expect(attached({ type: 'embeddedResource', label: 'x', data: '', contentType: 'image/png' })).toEqual([]);
    expect(attached({ type: 'resource', label: 'x', uri: 'https://example.org/x' })).toEqual([]);
  });

  it.each<[SessionsV1Attachment, object]>([
    [
      { type: 'file', path: '/a b/c.ts' },
      { uri: 'file:///a%20b/c.ts', label: 'c.ts', displayKind: 'document' },
    ],
    [
      { type: 'directory', path: '/a/src/', displayName: 'Sources' },
      { uri: 'file:///a/src/', label: 'Sources', displayKind: 'directory' },
    ],
    [
      { type: 'selection', path: '/a' },
      { uri: 'file:///a', label: 'a', displayKind: 'selection' },
    ],
  ])('[V1-038] take in %o', (attachment, expected) => {
    const { attachments } = messageFromWire({ text: '', attachments: [attachment] });
    expect(attachments).toEqual([{ type: 'resource', ...expected }]);
  });

  it('[V1-038] drop a path that cannot be written as a URI', () => {
    expect(messageFromWire({ text: '', attachments: [{ type: 'file', path: '/\ud800' }] }).attachments).toEqual([]);
  });

  it('[V1-041] refer to content by an opaque URI with a MIME type', () => {
    const part = { kind: 'contentRef' as const, uri: 'x://s/c', contentType: 'text/plain' };
    expect(contentRefToWire(part)).toEqual({ kind: 'contentRef', uri: 'x://s/c', mimeType: 'text/plain' });
  });
});

describe('file paths', () => {
  it.each([
    ['/srv/a.ts', 'file:///srv/a.ts'],
    ['/a b/ü#?%.ts', 'file:///a%20b/%C3%BC%23%3F%25.ts'],
    ['C:/srv/a.ts', 'file:///C:/srv/a.ts'],
    ['//server/share/a', 'file://server/share/a'],
  ])('%s is %s, and back', (path, uri) => {
    expect(fileUriFromPath(path)).toBe(uri);
    expect(pathFromFileUri(uri)).toBe(path);
  });

  it('read other spellings', () => {
    expect(fileUriFromPath('C:\\srv\\a.ts')).toBe('file:///C:/srv/a.ts');
    expect(fileUriFromPath('\\\\server\\share')).toBe('file://server/share');
    expect(fileUriFromPath('a.ts')).toBe('file:///a.ts');
    expect(fileUriFromPath('file:///a')).toBe('file:///a');
    expect(pathFromFileUri('file:///%zz')).toBeUndefined();
    expect(pathFromFileUri('https://a')).toBeUndefined();
  });

  it('have a last part', () => {
    expect([baseName('/a/b.ts'), baseName('C:\\a\\b'), baseName('/')]).toEqual(['b.ts', 'b', '/']);
  });
});
