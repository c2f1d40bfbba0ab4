import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { SESSION_SECTIONS } from '../../src/prompt/session-sections.js';
import {
  BRANCHES_MAX,
  type Checkout,
  SessionConfig,
  type SessionConfigOptions,
} from '../../src/sessions/session-config.js';

const SESSION = 'ahp-session:/a';
const STRICT = { ignoresUnknown: false };
let root: string;
const uri = (name = '') => pathToFileURL(path.join(root, name)).href;

beforeAll(async () => {
  root = await realpath(await mkdtemp(path.join(tmpdir(), 'atrium-config-')));
  await mkdir(path.join(root, 'repository'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

function checkout(changes: Partial<Checkout> = {}): Checkout {
  const branches = async () => ['main', 'Feature/x'];
  const location: Checkout['location'] = async (session, { from = 'none', name }) => ({
    workingDirectories: [[session, from, name].filter((part) => part !== undefined).join('#')],
  });
  return { branch: 'main', branches, location, ...changes };
}

/** Only the folder `repository` is one. */
function setUp(changes: Partial<SessionConfigOptions> = {}, found: Checkout = checkout()) {
  const checkoutAt = vi.fn(async (folder: string) => (path.basename(folder) === 'repository' ? found : undefined));
  const options = { defaultDirectory: undefined, browsed: [root], autoApprove: () => false, recentFolders: () => [] };
  const config = new SessionConfig({ worktrees: { checkoutAt }, ...options, ...changes });
  return { config, checkoutAt };
}

const properties = async (config: SessionConfig, context: object) =>
  Object.keys((await config.resolve(context)).schema.properties);

describe('what a session can be configured with', () => {
  it('[AHP-037] depends on what was chosen so far, and everything has a title', async () => {
    const { config } = setUp();
    expect(await properties(config, {})).toEqual(['folder', 'mode', 'autoApprove', SESSION_SECTIONS]);
    expect(await properties(config, { workingDirectory: uri() })).toEqual(['mode', 'autoApprove', SESSION_SECTIONS]);
    const inside = ['isolation', 'mode', 'autoApprove', SESSION_SECTIONS];
    expect(await properties(config, { workingDirectory: uri('repository') })).toEqual(inside);
    const chosen = { folder: path.join(root, 'repository'), isolation: 'worktree' };
    const { schema, values } = await config.resolve({ config: chosen });
    expect(values).toEqual({ ...chosen, branch: 'main', mode: 'ask', autoApprove: false });
    expect(schema.properties.branch).toMatchObject({ type: 'string', enum: ['main'], enumDynamic: true });
    for (const { title, description, enum: all, enumLabels = [], enumDescriptions = [] } of Object.values(
      schema.properties,
    )) {
      expect(title).toMatch(/\w/);
      expect(description ?? enumDescriptions[0]).toMatch(/\w/);
      const words = [...enumLabels, ...enumDescriptions];
      expect(words.filter((text) => text.length > 2)).toHaveLength(
        enumLabels.length === 0 ? 0 : 2 * (all?.length ?? 0),
      );
    }
  });

  it('[AHP-037] begins at the latest branch where none is checked out, or at none', async () => {
    const bare = { branches: async () => ['late', 'early'] };
    const context = { workingDirectory: uri('repository'), config: { isolation: 'worktree' } };
    const at = async (found: Checkout) => (await setUp({}, found).config.resolve(context)).values.branch;
    expect(await at({ ...bare, location: async () => ({}) })).toBe('late');
    expect(
      await at({ branches: () => Promise.reject(new Error('no git')), location: async () => ({}) }),
    ).toBeUndefined();
  });

  it('takes no text for the prompt where the host forbids it', async () => {
    const { config } = setUp({ takesPromptSections: false, autoApprove: () => true });
    const { schema, values } = await config.resolve({ workingDirectory: uri() });
    expect([Object.keys(schema.properties), values]).toEqual([
      ['mode', 'autoApprove'],
      { mode: 'ask', autoApprove: true },
    ]);
    const given = { config: { [SESSION_SECTIONS]: {} } };
    await expect(config.chosen(SESSION, given, STRICT)).rejects.toThrow('takes no text for the system prompt');
    await expect(setUp().config.chosen(SESSION, { config: { [SESSION_SECTIONS]: 5 } }, STRICT)).rejects.toThrow(
      `/config/${SESSION_SECTIONS}`,
    );
  });
});

describe('what a session is created with', () => {
  const locationOf = async (config: SessionConfig, given: object) =>
    (await config.chosen(SESSION, given, STRICT)).location;

  it('[AHP-037] is a folder, as a path or a URI, or a worktree at a branch', async () => {
    const { config, checkoutAt } = setUp();
    const folder = path.join(root, 'repository');
    expect(await locationOf(config, {})).toEqual({});
    expect(await locationOf(config, { config: { folder } })).toEqual({ workingDirectories: [uri('repository')] });
    expect(await locationOf(config, { workingDirectory: uri(), config: {} })).toEqual({ workingDirectories: [uri()] });
    expect(checkoutAt).not.toHaveBeenCalled();
    const worktree = (more: object) => ({
      workingDirectory: uri('repository'),
      config: { isolation: 'worktree', ...more },
    });
    expect(await locationOf(config, worktree({}))).toEqual({ workingDirectories: [`${SESSION}#main`] });
    expect(await locationOf(config, worktree({ branch: '' }))).toEqual({ workingDirectories: [`${SESSION}#main`] });
    expect(await locationOf(config, worktree({ branch: 'Feature/x' }))).toEqual({
      workingDirectories: [`${SESSION}#Feature/x`],
    });
  });

  it('has each further folder once', async () => {
    const furtherDirectories = [uri('repository'), uri(), uri('repository')];
    const location = await locationOf(setUp().config, { workingDirectory: uri(), furtherDirectories });
    expect(location).toEqual({ workingDirectories: [uri(), uri('repository')] });
  });

  it.each<[string, (root: string) => object, string]>([
    ['no folder is there', (root) => ({ config: { folder: `${root}/no` } }), '/config/folder: there is no folder'],
    [
      'no folder is at the URI',
      (root) => ({ workingDirectory: `file://${root}/no` }),
      '/workingDirectory: there is no',
    ],
    [
      'a further folder is missing',
      (root) => ({ workingDirectory: `file://${root}`, furtherDirectories: [`file://${root}/no`] }),
      '/workingDirectory: there is no folder',
    ],
    ['the folder is no whole path', () => ({ config: { folder: 'half/a/path' } }), 'must be an absolute path'],
    [
      'a worktree has no repository',
      (root) => ({ workingDirectory: `file://${root}`, config: { isolation: 'worktree' } }),
      '/config/isolation',
    ],
    ['a value does not fit', () => ({ config: { autoApprove: 'yes' } }), 'autoApprove'],
  ])('[AHP-037] is refused when %s', async (_, given, expected) => {
    await expect(setUp().config.chosen(SESSION, given(root), STRICT)).rejects.toThrow(expected);
  });

  it('is refused a worktree where the host has no folder for them', async () => {
    const { config } = setUp({ worktrees: undefined });
    const given = { workingDirectory: uri('repository'), config: { isolation: 'worktree' } };
    await expect(config.chosen(SESSION, given, STRICT)).rejects.toThrow('/config/isolation');
  });

  it('leaves out what nobody offers, where the client may send such, and what stands on objects', async () => {
    const { config } = setUp();
    const given = {
      workingDirectory: uri(),
      config: { color: 'red', isolation: 'worktree', autoApprove: true, toString: 1 },
    };
    const chosen = await config.chosen(SESSION, given, { ignoresUnknown: true });
    expect(chosen.config.values).toEqual({ mode: 'ask', autoApprove: true });
    expect(await config.chosen(SESSION, {}, { ignoresUnknown: true })).toMatchObject({ location: {} });
  });
});

describe('values that are looked up', () => {
  const folder = { property: 'folder', channel: 'ahp-root://' } as const;
  const branch = { ...folder, property: 'branch', config: { isolation: 'worktree' } } as const;

  it('[AHP-038] are branches, in any case; the one that is checked out says so', async () => {
    const { config } = setUp();
    const context = { ...branch, workingDirectory: uri('repository') };
    expect(await config.completions(context)).toEqual([
      { value: 'main', label: 'main', description: 'Checked out now' },
      { value: 'Feature/x', label: 'Feature/x' },
    ]);
    expect(await config.completions({ ...context, query: 'fEAT' })).toMatchObject([{ value: 'Feature/x' }]);
    const failing = setUp({}, checkout({ branches: () => Promise.reject(new Error('no git')) })).config;
    expect(await failing.completions(context)).toEqual([]);
    const many = checkout({ branches: async () => Array.from({ length: BRANCHES_MAX + 1 }, (_, at) => `b${at}`) });
    expect(await setUp({}, many).config.completions(context)).toHaveLength(BRANCHES_MAX);
  });

  it('[AHP-038] are folders of sessions, and where pickers begin, as long as they are there', async () => {
    const repository = path.join(root, 'repository');
    const recentFolders = () => [repository, path.join(root, 'gone'), repository];
    const { config } = setUp({ recentFolders, defaultDirectory: uri() });
    expect(await config.completions(folder)).toEqual([
      { value: repository, label: 'repository', description: repository },
      { value: root, label: path.basename(root), description: root },
    ]);
    expect(await config.completions({ ...folder, query: path.join(root, 'repo') })).toMatchObject([
      { value: repository },
    ]);
    expect(await setUp({ defaultDirectory: 'file://%' }).config.completions(folder)).toEqual([]);
    expect(await setUp({ defaultDirectory: '/' }).config.completions(folder)).toMatchObject([{ label: '/' }]);
  });

  it.each(['autoApprove', 'branch', 'nothing'])('[AHP-038] are none for %s', async (property) => {
    await expect(setUp().config.completions({ ...folder, property })).rejects.toThrow(`no values can be looked up`);
  });
});
