/** What is decided about accesses that are not the owner's, case by case. That nothing leads around it: `security/roles/`. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ErrorCode, type LeftOut } from '@atrium/protocol/ahp-1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Access, Bounds, Role } from '../../src/contracts/access.js';
import { OWNER } from '../../src/contracts/access.js';
import {
  AccessControl,
  type AccessFacts,
  accessKey,
  isLimited,
  REAL_PATHS_FRESH_MS,
  type SessionPlace,
  type TerminalOwner,
} from '../../src/wire/access-control.js';

const [MINE, OTHER] = ['ahp-session:/mine', 'ahp-session:/other'];
const [CHAT, FOREIGN_CHAT, WORKER] = ['ahp-chat:/mine', 'ahp-chat:/other', 'ahp-chat:/worker'];
const CHANGES = 'ahp-changeset:/mine';
const CANVAS = 'ahp-canvas:/mine';
const NOTES = `${MINE}/annotations`;

let top: string;
let work: string;
let away: string;
const uri = (folder: string) => pathToFileURL(folder).href;

beforeAll(() => {
  top = realpathSync(mkdtempSync(path.join(tmpdir(), 'atrium-access-')));
  [work, away] = [path.join(top, 'work'), path.join(top, 'away')];
  for (const folder of [work, away, path.join(work, 'inner')]) mkdirSync(folder);
  symlinkSync(away, path.join(work, 'link'));
  symlinkSync(work, path.join(top, 'way-in'));
});
afterAll(() => rmSync(top, { recursive: true, force: true }));

interface Given {
  readonly places?: Readonly<Record<string, SessionPlace>>;
  readonly terminals?: Readonly<Record<string, TerminalOwner>>;
  readonly now?: () => number;
}

function control({ places = {}, terminals = {}, now = () => 0 }: Given = {}): AccessControl {
  const facts: AccessFacts = {
    placeOf: (session) => places[session],
    sessionOf: (channel) => {
      if (channel.endsWith('/of-nobody')) return undefined;
      return channel.endsWith('mine') || channel === NOTES || channel === WORKER ? MINE : OTHER;
    },
    ownerOf: (terminal) => terminals[terminal],
    isWorkerChat: (chat) => chat === WORKER,
  };
  return new AccessControl(facts, now);
}

const device = (role: Role, bounds?: Bounds, leftOut?: readonly LeftOut[]): Access => ({
  ...{ role, credential: { kind: 'device', id: 'd' } },
  ...(bounds && { bounds }),
  ...(leftOut && { leftOut }),
});
const share = (leftOut: readonly LeftOut[] = []): Access => ({
  ...device('viewer', { sessions: [MINE] }, leftOut),
  credential: { kind: 'share', id: 's' },
});
const caller = (access: Access, clientId = 'desk') => ({ access, identity: { clientId } }) as never;
/** The code of the error; undefined when the request is allowed. */
function codeOf(request: () => void): number | undefined {
  try {
    request();
    return undefined;
  } catch (error) {
    return (error as { code: number }).code;
  }
}

describe('the sessions that somebody sees', () => {
  it('[DEV-021] are all without bounds, those that are named, and those that work in a folder within', () => {
    const places = {
      'in:/': { workingDirectories: [uri(work), uri(path.join(work, 'inner'))] },
      'half:/': { workingDirectories: [uri(work), uri(away)] },
      'linked:/': { workingDirectories: [uri(path.join(work, 'link'))] },
      'tree:/': { workingDirectories: [uri(away)], project: { uri: uri(work) } },
      'elsewhere:/': { workingDirectories: [uri(work)], project: { uri: uri(away) } },
      'nowhere:/': {},
      'odd:/': { workingDirectories: ['vscode:/x'] },
    };
    const seen = (bounds?: Bounds) =>
      Object.keys(places).filter((session) => control({ places }).sees(device('viewer', bounds), session));
    expect(seen()).toEqual(Object.keys(places));
    expect(seen({ sessions: ['half:/'] })).toEqual(['half:/']);
    expect(seen({ folders: [work] })).toEqual(['in:/', 'tree:/', 'elsewhere:/']);
    expect(seen({ folders: [path.join(top, 'way-in')] })).toEqual(['in:/', 'tree:/', 'elsewhere:/']);
    expect(seen({ folders: [path.join(work, 'inner'), away] })).toEqual(['linked:/', 'tree:/', 'elsewhere:/']);
    expect(seen({ sessions: ['odd:/'], folders: [work] })).toEqual(['in:/', 'tree:/', 'elsewhere:/', 'odd:/']);
    expect(seen({})).toEqual([]);
    expect(control().sees(device('viewer', { folders: [work] }), MINE)).toBe(false);
  });

  it('[DEV-021] have their folders, wherever links lead', () => {
    const places = { [MINE]: { workingDirectories: [uri(path.join(top, 'way-in')), 'vscode:/x'] }, [OTHER]: {} };
    const folders = (bounds?: Bounds) => control({ places }).foldersOf(device('viewer', bounds));
    expect(folders()).toBeUndefined();
    expect(folders({ sessions: [MINE, OTHER, 'ahp-session:/gone'], folders: [away] })).toEqual([away, work]);
    const has = (folder: string, bounds?: Bounds) => control().hasFolder(device('viewer', bounds), folder);
    expect(has('/anywhere')).toBe(true);
    expect(
      [work, path.join(work, 'inner'), top, path.join(work, 'link')].map((each) => has(each, { folders: [work] })),
    ).toEqual([true, true, false, false]);
    expect(has(work, { sessions: [MINE] })).toBe(false);
  });

  it('[DEV-021] where a folder really is, is looked up anew after a second, and when the clock went back', () => {
    let now = 10_000;
    const link = path.join(top, 'moving');
    symlinkSync(work, link);
    const control_ = control({ now: () => now });
    const isWithin = () => control_.hasFolder(device('viewer', { folders: [work] }), link);
    expect(isWithin()).toBe(true);
    rmSync(link);
    symlinkSync(away, link);
    now += REAL_PATHS_FRESH_MS - 1;
    expect(isWithin()).toBe(true);
    now += 1;
    expect(isWithin()).toBe(false);
    rmSync(link);
    symlinkSync(work, link);
    now -= REAL_PATHS_FRESH_MS + 1;
    expect(isWithin()).toBe(true);
    rmSync(link);
  });

  it('[DEV-021] is remembered of 1,000 folders: with one more it begins anew', () => {
    const link = path.join(top, 'one-of-many');
    symlinkSync(work, link);
    const own = control();
    const access = device('viewer', { folders: [work] });
    // With the bound it is two.
    expect(own.hasFolder(access, link)).toBe(true);
    for (let index = 0; index < 998; index++) own.hasFolder(access, path.join(away, `${index}`));
    rmSync(link);
    symlinkSync(away, link);
    expect(own.hasFolder(access, link)).toBe(true);
    own.hasFolder(access, path.join(away, 'one-more'));
    expect(own.hasFolder(access, link)).toBe(false);
    rmSync(link);
  });
});

describe('the channels that exist for somebody', () => {
  const bounded = device('driver', { sessions: [MINE] });
  const ALL = [
    ...['ahp-root://', MINE, OTHER, CHAT, FOREIGN_CHAT, WORKER, CHANGES, NOTES, CANVAS, 'ahp-resource-watch:/x'],
    ...['ahp-automations://', 'ahp-automation-run:/a', 'ahp-otlp:/logs', 'mcp:/x'],
  ];
  const visible = (access: Access) => ALL.filter((channel) => control().isVisible(caller(access), channel));

  it('[DEV-020] [DEV-021] are those of the sessions within the bounds, and none of the whole host', () => {
    expect(visible(OWNER)).toEqual(ALL);
    expect(visible(device('viewer'))).toEqual(ALL);
    const own = ['ahp-root://', MINE, CHAT, WORKER, CHANGES, NOTES, CANVAS, 'ahp-resource-watch:/x'];
    expect(visible(bounded)).toEqual(own);
    expect(visible(share())).toEqual(own);
    expect(visible({ ...share(), bounds: undefined })).toEqual(ALL.filter((each) => !/automation|otlp|mcp/.test(each)));
    // A channel that belongs to no session is looked up by its own name.
    expect(
      control().isVisible(caller(device('viewer', { sessions: ['ahp-chat:/of-nobody'] })), 'ahp-chat:/of-nobody'),
    ).toBe(true);
  });

  it.each<[LeftOut, string[]]>([
    ['reasoning', []],
    ['attachments', []],
    ['toolInput', [WORKER]],
    ['toolOutput', [WORKER]],
    ['folders', [CHANGES]],
    ['fileContents', [CHANGES, WORKER]],
  ])('[DEV-031] %s that is left out is not to be had by %j either', (what, hidden) => {
    const shown = visible(share([what]));
    expect([MINE, CHAT].every((channel) => shown.includes(channel))).toBe(true);
    expect(
      visible(share())
        .filter((channel) => !shown.includes(channel))
        .sort(),
    ).toEqual([NOTES, CANVAS, ...hidden].sort());
  });

  it('[DEV-021] terminals belong to a session, or to the client that opened them in a folder that is within', () => {
    const terminals: Record<string, TerminalOwner> = {
      'ahp-terminal:/mine': { session: MINE },
      'ahp-terminal:/other': { session: OTHER, clientId: 'desk', folder: uri(work) },
      'ahp-terminal:/desk': { clientId: 'desk', folder: uri(work) },
      'ahp-terminal:/desk-away': { clientId: 'desk', folder: uri(away) },
      'ahp-terminal:/desk-plain': { clientId: 'desk', folder: work },
      'ahp-terminal:/desk-nowhere': { clientId: 'desk' },
      'ahp-terminal:/desk-odd': { clientId: 'desk', folder: 'work' },
      'ahp-terminal:/phone': { clientId: 'phone', folder: uri(work) },
    };
    const seen = (access: Access) =>
      [...Object.keys(terminals), 'ahp-terminal:/unknown']
        .filter((terminal) => control({ terminals }).isVisible(caller(access), terminal))
        .map((terminal) => terminal.replace('ahp-terminal:/', ''));
    expect(seen(device('driver'))).toHaveLength(9);
    expect(seen(device('driver', { sessions: [MINE], folders: [work] }))).toEqual(['mine', 'desk', 'desk-plain']);
    expect(seen(share())).toEqual(['mine']);
    expect(seen(share(['reasoning']))).toEqual([]);
    expect(seen(device('viewer', { sessions: [MINE] }, ['reasoning']))).toEqual(['mine']);
  });

  it('[DEV-020] may be opened by whom their kind allows', () => {
    const may = (access: Access, channel: string) => control().canOpen(caller(access), channel);
    expect(may(OWNER, 'ahp-otlp:/logs')).toBe(true);
    expect(may(device('viewer'), MINE)).toBe(true);
    expect(may(bounded, OTHER)).toBe(false);
    expect(may(device('viewer'), 'ahp-otlp:/logs')).toBe(false);
    const refused = () => control().checkChannel(device('viewer'), 'ahp-otlp:/logs');
    expect(refused).toThrow('not allowed: subscribe to ahp-otlp:/logs needs the role owner');
    expect(codeOf(refused)).toBe(ErrorCode.PermissionDenied);
    expect(() => control().checkChannel(device('viewer'), MINE)).not.toThrow();
  });
});

describe('requests', () => {
  const check = (access: Access, method: string, params: object = {}) =>
    control({ places: { [MINE]: { workingDirectories: [uri(work)] } } }).checkRequest(
      caller(access),
      method,
      params as never,
    );
  const code = (access: Access, method: string, params: object = {}) => codeOf(() => check(access, method, params));
  const within = () => device('driver', { sessions: [MINE], folders: [work] });

  it('[DEV-032] of a share are these, and no others', () => {
    const asked = (method: string, params: object = {}) => code(share(), method, { channel: MINE, ...params });
    for (const method of ['initialize', 'reconnect', 'ping', 'subscribe', 'listSessions', 'fetchTurns'])
      expect([method, asked(method)]).toEqual([method, undefined]);
    expect(asked('resourceRead', { uri: 'atrium-content:/of-nobody' })).toBeUndefined();
    expect(asked('resourceList')).toBe(ErrorCode.PermissionDenied);
    expect(() => check({ ...share(), role: 'owner' }, 'completions', { channel: CHAT })).toThrow(
      'a share has no completions',
    );
  });

  it('[DEV-022] need the role of the table, and what is about the whole host no bounds', () => {
    expect(code(OWNER, 'createSession', { channel: OTHER })).toBeUndefined();
    expect(code(device('viewer'), 'createSession', { channel: OTHER })).toBe(ErrorCode.PermissionDenied);
    expect(code(device('driver'), 'createSession', { channel: OTHER })).toBeUndefined();
    expect(code(device('viewer'), 'subscribe', { channel: 'ahp-otlp:/logs' })).toBe(ErrorCode.PermissionDenied);
    expect(code(device('viewer'), 'ping', { channel: 'ahp-otlp:/logs' })).toBeUndefined();
    expect(code(device('driver', { sessions: [MINE] }), 'completions', { channel: OTHER })).not.toBeUndefined();
    expect(code(device('driver', { sessions: [MINE] }), 'completions', { channel: MINE })).toBeUndefined();
    expect(code(device('driver'), 'atrium/projects')).toBeUndefined();
    expect(code(within(), 'atrium/projects')).toBe(ErrorCode.PermissionDenied);
    expect(() => check(device('owner', {}), 'a/method/of/tomorrow')).toThrow('concerns the whole host');
    expect(code(within(), 'sessionConfigCompletions', { channel: 'ahp-root://', property: 'folder' })).toBe(
      ErrorCode.PermissionDenied,
    );
    expect(code(within(), 'sessionConfigCompletions', { channel: 'ahp-root://', property: 'branch' })).toBeUndefined();
  });

  it('[DEV-022] that are refused say the role that they would need', () => {
    const neededRole = (access: Access, method: string) => {
      try {
        check(access, method, { channel: CHAT });
      } catch (error) {
        return (error as { data?: { role?: Role } }).data?.role;
      }
    };
    expect(neededRole(device('viewer'), 'completions')).toBe('driver');
    expect(neededRole(within(), 'atrium/projects')).toBe('owner');
    expect(neededRole({ ...share(), role: 'owner' }, 'completions')).toBe('owner');
  });

  it('[DEV-021] begin in a folder that is within, and name one', () => {
    const created = (params: object, method = 'createSession') => code(within(), method, { channel: MINE, ...params });
    for (const member of ['workingDirectory', 'folder', 'cwd', 'directory'])
      for (const params of [{ [member]: uri(work) }, { config: { [member]: work } }])
        expect([params, created(params)]).toEqual([params, undefined]);
    expect(created({ workingDirectories: [uri(work), uri(path.join(work, 'inner'))] })).toBeUndefined();
    for (const folder of [uri(away), uri(path.join(work, 'link')), 'work', './work', 'vscode:/x']) {
      expect([folder, created({ workingDirectory: folder })]).toEqual([folder, ErrorCode.InvalidParams]);
      expect(created({ workingDirectories: [uri(work), folder] })).toBe(ErrorCode.InvalidParams);
      expect(created({ workingDirectory: uri(work), config: { folder } })).toBe(ErrorCode.InvalidParams);
    }
    expect(() => check(within(), 'createSession', { channel: MINE })).toThrow('name a folder');
    expect(() => check(within(), 'createTerminal', { channel: 'ahp-terminal:/x', config: [work] })).toThrow(
      'name a folder',
    );
    expect(created({ fork: { session: MINE } })).toBeUndefined();
    expect(created({ fork: { session: OTHER } })).not.toBeUndefined();
    expect(created({ source: { chat: FOREIGN_CHAT }, folder: work })).not.toBeUndefined();
    expect(created({ source: { chat: CHAT }, folder: work })).toBeUndefined();
    expect(created({ claim: { session: OTHER }, cwd: work }, 'createTerminal')).not.toBeUndefined();
    expect(created({ claim: { session: MINE } }, 'createTerminal')).toBeUndefined();
    expect(created({ fork: {} })).toBe(ErrorCode.InvalidParams);
    expect(code(device('driver', { sessions: [MINE] }), 'createChat', { channel: MINE, chat: CHAT })).toBeUndefined();
  });

  it('[DEV-021] bring no attachment that does not exist for their sender', () => {
    const sent = (...attachments: unknown[]) =>
      code(within(), 'createSession', { channel: MINE, folder: work, initialMessage: { text: '', attachments } });
    expect(sent()).toBeUndefined();
    expect(sent({ type: 'resource', uri: uri(path.join(work, 'x')) }, null, 'x')).toBeUndefined();
    expect(sent({ type: 'resource', uri: 'https://example.org' })).toBeUndefined();
    expect(sent({ type: 'chat', resource: CHAT })).toBeUndefined();
    expect(sent({ type: 'annotations', resource: NOTES })).toBeUndefined();
    for (const attachment of [
      ...[
        { type: 'resource', uri: uri(path.join(away, 'x')) },
        { type: 'resource', uri: 'FILE:///etc/passwd' },
      ],
      ...[
        { type: 'resource', uri: 'file://host/x' },
        { type: 'chat', resource: FOREIGN_CHAT },
      ],
      ...[
        { type: 'chat', resource: CHAT, uri: FOREIGN_CHAT },
        { type: 'annotations', resource: `${OTHER}/annotations` },
      ],
      { type: 'chat', resource: uri(path.join(away, 'x')) },
    ])
      expect([attachment, sent({ type: 'simple' }, attachment)]).toEqual([attachment, ErrorCode.NotFound]);
    expect(code(within(), 'createSession', { channel: MINE, folder: work, initialMessage: 'x' })).toBeUndefined();
  });

  it('[DEV-021] [DEV-031] read no content of a session that is out of bounds, and none that is left out', () => {
    const read = (access: Access, content: unknown) =>
      code(access, 'resourceRead', { channel: 'ahp-root://', uri: content });
    const [changes, input] = ['atrium-changes:/mine', 'atrium-input:/mine'];
    for (const content of [changes, input, 'atrium-content:/of-nobody']) expect(read(share(), content)).toBeUndefined();
    for (const content of ['atrium-changes:/other', 'atrium-input:/other', 'atrium-input:/of-nobody'])
      expect([content, read(share(), content)]).toEqual([content, ErrorCode.NotFound]);
    expect(read(device('viewer', undefined, []), 'atrium-input:/of-nobody')).toBeUndefined();
    expect(read(device('driver', { sessions: [MINE] }), 7)).toBeUndefined();
    const isLeftOut = (what: LeftOut) =>
      [changes, input].map((each) => read(share([what]), each) === ErrorCode.NotFound);
    expect(isLeftOut('fileContents')).toEqual([true, true]);
    expect(isLeftOut('folders')).toEqual([true, false]);
    expect(isLeftOut('toolInput')).toEqual([false, true]);
    expect(isLeftOut('toolOutput')).toEqual([false, false]);
  });
});

describe('actions', () => {
  const refusal = (access: Access, action: object, needed?: Role) =>
    control().refusalOf(caller(access), action as never, needed);
  const title = { type: 'session/titleChanged', title: 'x' };
  const within = () => device('driver', { sessions: [MINE], folders: [work] });

  it('[DEV-022] need the role of the table, or more where their channel says so; a share has none', () => {
    expect(refusal(OWNER, title, 'owner')).toBeUndefined();
    expect(refusal(device('driver'), title)).toBeUndefined();
    expect(refusal(device('driver'), title, 'owner')).toBe('not allowed: this needs the role owner');
    expect(refusal(device('viewer'), title)).toBe('not allowed: this needs the role driver');
    expect(refusal({ ...share(), role: 'driver' }, title)).toBe('not allowed: a share is for reading');
  });

  it('[DEV-021] bring in no folder, session or attachment that does not exist for their sender', () => {
    for (const type of ['session/workingDirectorySet', 'chat/workingDirectorySet', 'session/workingDirectoryReplaced'])
      for (const member of ['directory', 'replacement']) {
        expect(refusal(within(), { type, [member]: uri(work) })).toBeUndefined();
        expect(refusal(within(), { type, [member]: uri(away) })).toBe(`there is no folder ${uri(away)}`);
        expect(refusal(device('driver'), { type, [member]: uri(away) })).toBeUndefined();
      }
    expect(refusal(within(), { ...title, directory: uri(away) })).toBeUndefined();
    const claim = (given: unknown) => refusal(within(), { type: 'terminal/claimed', claim: given });
    expect([claim({ session: MINE }), claim({ chat: CHAT }), claim({}), claim('x')]).toEqual(Array(4).fill(undefined));
    expect(claim({ session: OTHER })).toBe(`there is no session ${OTHER}`);
    expect(claim({ session: MINE, chat: FOREIGN_CHAT })).toBe(`there is no session ${FOREIGN_CHAT}`);
    expect(refusal(within(), { ...title, claim: { session: OTHER } })).toBeUndefined();
    const attachments = [{ type: 'chat', resource: FOREIGN_CHAT }];
    for (const member of ['message', 'draft'])
      expect(refusal(within(), { type: 'chat/turnStarted', [member]: { attachments } })).toBe(
        `there is no ${FOREIGN_CHAT}`,
      );
    expect(refusal(within(), { type: 'chat/turnStarted', message: { attachments: [] } })).toBeUndefined();
  });
});

describe('what is kept from somebody', () => {
  const accesses: Access[] = [
    ...[device('viewer'), device('owner', {}), device('owner', undefined, []), { ...share(), bounds: undefined }],
    { role: 'owner', credential: { kind: 'share', id: 's' } },
  ];

  it('[DEV-020] is nothing for the owner, also on a device', () => {
    expect([OWNER, device('owner')].map(isLimited)).toEqual([false, false]);
    expect(accesses.map(isLimited)).toEqual(accesses.map(() => true));
    expect([OWNER, device('owner')].map(accessKey)).toEqual([undefined, undefined]);
  });

  it('[DEV-023] has a key: the same for whom the same counts, another for everybody else', () => {
    const more = [
      ...[device('driver'), device('viewer', { sessions: [MINE] }), device('viewer', { sessions: [OTHER] })],
      ...[device('viewer', { folders: [work] }), device('viewer', undefined, ['folders'])],
      // A share is asked less of than a device for which the very same counts.
      { ...device('viewer'), credential: { kind: 'share', id: 's' } } as const,
    ];
    const keys = [...accesses, ...more].map(accessKey);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).not.toContain(undefined);
    expect(accessKey({ ...device('viewer'), credential: { kind: 'connection', id: 'x' } })).toBe(
      accessKey(device('viewer')),
    );
  });
});
