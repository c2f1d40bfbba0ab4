/** What a client is told of an error of the system, and of the type of a file. */
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { ToolFailure } from '@atrium/core/contracts/tool.js';
import { ErrorCode, ROOT_CHANNEL } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { isText, typeOfBytes, typeOfFile } from '../../src/workspace/files/content-type.js';
import { asAnswer, codeOf, denied, MovedError } from '../../src/workspace/files/file-errors.js';

const failed = (code: unknown) => Object.assign(new Error('failed'), { code });

describe('an error of the system', () => {
  it.each<readonly [string, number, string]>([
    ...['ENOENT', 'ENOTDIR', 'ELOOP'].map((code) => [code, ErrorCode.NotFound, 'file:/x does not exist'] as const),
    ['EEXIST', ErrorCode.AlreadyExists, 'file:/x is there already'],
    ['ENAMETOOLONG', ErrorCode.PermissionDenied, 'file:/x is too long'],
    ...['EACCES', 'EPERM', 'EROFS', 'EBUSY'].map(
      (code) => [code, ErrorCode.PermissionDenied, 'the system does not let the host do that with file:/x'] as const,
    ),
    ...['ENOSPC', 'EDQUOT'].map(
      (code) => [code, ErrorCode.InternalError, 'there is no space left on the disk of the host'] as const,
    ),
  ])('%s has an answer', (code, expected, message) => {
    const answer = asAnswer(failed(code), 'file:/x');
    expect(answer).toBeInstanceOf(RequestError);
    expect(answer).toMatchObject({ code: expected, message });
  });

  it('that is unknown is a failure of the host, as it is', () => {
    for (const error of [failed('EIO'), failed(5), new Error('no code'), 'text', { code: 'ENOENT' }])
      expect(asAnswer(error, 'file:/x')).toBe(error);
    expect([codeOf(failed('EIO')), codeOf(failed(5)), codeOf({ code: 'EIO' })]).toEqual(['EIO', undefined, undefined]);
  });

  it('of the way to a file is a refusal', () => {
    const code = ErrorCode.PermissionDenied;
    expect(asAnswer(new ToolFailure('NO_GO', 'off limits to tools'), 'u')).toMatchObject({
      code,
      message: 'off limits to tools',
    });
    expect(asAnswer(new MovedError('moved'), 'u')).toMatchObject({ code, message: 'the way to u keeps changing' });
  });
});

describe('a denial', () => {
  it.each([
    ['write', { write: true }],
    ['read', { read: true }],
    ['list', { read: true }],
  ] as const)('of %s says what to ask for', (wanted, flag) => {
    expect(denied('file:/x', wanted).data).toEqual({ request: { channel: ROOT_CHANNEL, uri: 'file:/x', ...flag } });
  });
});

describe('the type of a file', () => {
  it.each(
    Object.entries({
      ...{ css: 'text/css', csv: 'text/csv', gif: 'image/gif', htm: 'text/html', html: 'text/html' },
      ...{ jpeg: 'image/jpeg', jpg: 'image/jpeg', js: 'text/javascript', json: 'application/json' },
      ...{ log: 'text/plain', md: 'text/markdown', mjs: 'text/javascript', pdf: 'application/pdf', png: 'image/png' },
      ...{ svg: 'image/svg+xml', toml: 'application/toml', txt: 'text/plain', wasm: 'application/wasm' },
      ...{ webp: 'image/webp', xml: 'application/xml', yaml: 'application/yaml', yml: 'application/yaml' },
      ...{ zip: 'application/zip' },
    }),
  )('.%s is known by its name', (ending, type) => {
    expect(typeOfFile(`/a/b.x.${ending}`)).toBe(type);
    expect(typeOfFile(`/a/b.${ending.toUpperCase()}`)).toBe(type);
  });

  it('is unknown by any other name', () => {
    expect(['/a/html', '/a.html/b', '/a/.html'].map(typeOfFile)).toEqual([undefined, undefined, undefined]);
  });

  it.each([
    ['\x89PNG\r\n', 'image/png'],
    ['\xff\xd8\xff', 'image/jpeg'],
    ['GIF87a', 'image/gif'],
    ['GIF89a', 'image/gif'],
    ['RIFF\n\0\r\nWEBP', 'image/webp'],
    ['%PDF-1', 'application/pdf'],
    ['plain', 'text/plain'],
    ['', 'text/plain'],
    ['zero\0', 'application/octet-stream'],
    ['\xff\xfe', 'application/octet-stream'],
    ['GIF88a\xff', 'application/octet-stream'],
    [' \x89PNG\r\n', 'application/octet-stream'],
    [' \xff\xd8\xff', 'application/octet-stream'],
    [' GIF89a', 'text/plain'],
    [' RIFF1234WEBP', 'text/plain'],
    [' %PDF-1', 'text/plain'],
    ['RIFF12345WEBP', 'text/plain'],
  ])('that begins with %j is %s', (beginning, type) => {
    expect(typeOfBytes(Buffer.from(beginning, 'latin1'))).toBe(type);
  });

  it('is text when it comes back as the same bytes', () => {
    expect(isText(Buffer.from('ü'))).toBe(true);
    expect(isText(Buffer.from('ü').subarray(0, 1))).toBe(false);
    expect(isText(Buffer.from('a\0'))).toBe(false);
  });
});
