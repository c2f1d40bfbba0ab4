import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { decide, PLAN_REFUSAL } from '../../src/permissions/decide.js';
import { RULE_MAX_CHARACTERS, RULES_MAX } from '../../src/permissions/limits.js';
import { realPath } from '../../src/permissions/places.js';
import { proposedRules } from '../../src/permissions/propose.js';
import { parseRule, parseRules, ruleText } from '../../src/permissions/rules.js';
import { subjectOf } from '../../src/permissions/subjects.js';
import { callOf, commandCall, decideCommand, FOLDER, factsOf, outcome } from './support.js';

const files = (access: 'read' | 'write', ...paths: string[]) =>
  callOf({ kind: 'files', access, paths }, { tool: 'write_file' });
const fetching = (url: string) =>
  callOf(subjectOf({ tool: 'web_fetch', input: { url }, runs: 'host' }), { tool: 'web_fetch', isReadOnly: true });

describe('[DAY-001] rules', () => {
  test('deny beats ask beats allow, whatever scope each is from', () => {
    const rule = (effect: 'allow' | 'ask' | 'deny', scope: 'host' | 'person' | 'project' | 'session') =>
      parseRule('shell(git status)', effect, scope);
    const { places } = factsOf({});
    const scopes = ['host', 'person', 'project', 'session'] as const;
    for (const one of scopes)
      for (const other of scopes) {
        const by = (...rules: ReturnType<typeof rule>[]) =>
          decide(commandCall('git status'), { rules, mode: 'ask', isTrusted: false, places });
        expect(by(rule('allow', one), rule('deny', other))).toMatchObject({ effect: 'deny', rule: { scope: other } });
        expect(by(rule('allow', one), rule('ask', other))).toMatchObject({ effect: 'ask', rule: { scope: other } });
        expect(by(rule('ask', one), rule('deny', other))).toMatchObject({ effect: 'deny', rule: { scope: other } });
        expect(by(rule('allow', one))).toMatchObject({ effect: 'allow', rule: { scope: one } });
      }
  });

  test('of several rules that say the same, the strongest scope is named', () => {
    const { places } = factsOf({});
    const rules = [parseRule('shell(ls *)', 'allow', 'session'), parseRule('shell(ls *)', 'allow', 'host')];
    expect(decide(commandCall('ls'), { rules, mode: 'ask', isTrusted: false, places }).rule?.scope).toBe('host');
  });

  test('a rule is read and written as the same text; a broken one is named and does not count', () => {
    for (const text of [
      'shell(git diff *)',
      'edit(src/**)',
      'web_fetch(docs.rs:443)',
      '*',
      'shell',
      "shell(git commit -m 'a b')",
    ])
      expect(ruleText(parseRule(text, 'allow', 'person'))).toBe(text);
    expect(ruleText(parseRule(' shell(*) ', 'allow', 'person'))).toBe('shell');
    for (const text of [
      '',
      'shell(',
      'a b',
      'shell()',
      'shell(* rm)',
      'shell(g*t status)',
      'shell(git\u200b)',
      `shell(${'a'.repeat(RULE_MAX_CHARACTERS)})`,
    ])
      expect(() => parseRule(text, 'allow', 'person'), text).toThrow();
    expect(parseRules({ allow: ['shell(ls)', 'shell('], deny: ['x'] }, 'person')).toMatchObject({
      rules: { length: 2 },
      problems: { length: 1 },
    });
    const many = Array.from({ length: RULES_MAX + 1 }, (_, index) => `tool${index}`);
    expect(parseRules({ allow: many }, 'person').rules).toHaveLength(RULES_MAX);
    expect(parseRules({ allow: many.slice(1) }, 'person').problems).toEqual([]);
  });

  test('a rule for a tool of an extension counts for that owner only; one that forbids counts for all', () => {
    const call = (owner?: string, isOfClient = false) =>
      callOf({ kind: 'other' }, { tool: 'deploy', owner, isOfClient });
    expect(decide(call('ops'), factsOf({ allow: ['ops:deploy'] })).effect).toBe('allow');
    expect(decide(call('evil'), factsOf({ allow: ['ops:deploy', 'deploy'] })).effect).toBe('none');
    expect(decide(call('evil'), factsOf({ deny: ['deploy'] })).effect).toBe('deny');
    expect(decide(call('evil'), factsOf({ deny: ['DEPLOY'] })).effect).toBe('deny');
    expect(decide(call(undefined, true), factsOf({ allow: ['deploy'] })).effect).toBe('none');
    expect(decide(call('ops'), factsOf({ ask: ['deploy(prod)'], allow: ['*'] })).effect).toBe('ask');
  });
});

describe('[DAY-004] files and hosts', () => {
  test('patterns are globs on the path, relative ones in the folders of the session', () => {
    const facts = factsOf({
      allow: ['edit(src/**)', 'edit(*.md)', 'edit(./one.txt)', 'edit(/srv/shared/*.log)', 'edit(~/notes/**)'],
      deny: ['edit(**/secret*)', 'edit(.env)'],
    });
    const edit = (file: string) => outcome(decide(files('write', file), facts));
    for (const file of [
      'src/a.ts',
      './src/b/c.ts',
      `${FOLDER}/src/a.ts`,
      'README.md',
      'docs/x.md',
      'one.txt',
      '/srv/shared/a.log',
      '/home/me/notes/x',
    ])
      expect(edit(file), file).toBe('allow');
    for (const file of [
      'lib/a.ts',
      '/other/README.md',
      'sub/one.txt',
      '/srv/shared/a/b.log',
      '/srv/shared.log',
      'src/../lib/x',
      '../src/a',
      '/home/me/other',
    ])
      expect(edit(file), file).toBe('ask');
    for (const file of ['src/secret.ts', '.env', 'sub/.env', '/other/.env', '/srv/shared/secret.log'])
      expect(edit(file), file).toBe('deny');
  });

  test('writing outside of the folders asks unless the rule names that place', () => {
    for (const rule of ['edit', 'edit(**)', 'edit(/**)', 'edit(**/x)', 'edit(*)', 'edit(/*/x)'])
      expect(outcome(decide(files('write', '/etc/x'), factsOf({ allow: [rule] }))), rule).toBe('ask');
    for (const rule of ['edit(/etc/**)', 'edit(/etc/x)', 'edit(/etc/*)'])
      expect(outcome(decide(files('write', '/etc/x'), factsOf({ allow: [rule] }))), rule).toBe('allow');
  });

  test('links are followed first, also those that lead to nothing yet', () => {
    const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'atrium-places-')));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(path.join(folder, 'in'));
    mkdirSync(path.join(folder, 'out'));
    writeFileSync(path.join(folder, 'out', 'there'), '');
    symlinkSync('../out/there', path.join(folder, 'in', 'a'));
    symlinkSync('../out/missing', path.join(folder, 'in', 'b'));
    symlinkSync('../out', path.join(folder, 'in', 'c'));
    symlinkSync('loop', path.join(folder, 'in', 'loop'));
    const facts = {
      ...factsOf({ allow: ['edit'] }),
      places: { folders: [path.join(folder, 'in')], home: folder, realPath },
    };
    for (const file of ['a', 'b', 'c/new', 'c/there'])
      expect(outcome(decide(files('write', file), facts)), file).toBe('ask');
    for (const file of ['x', 'x/y/z']) expect(outcome(decide(files('write', file), facts)), file).toBe('allow');
    expect(() => decide(files('write', 'loop/x'), facts)).not.toThrow();
  });

  test('every file of a call must be allowed, and files that are not known never are', () => {
    const facts = factsOf({ allow: ['edit(src/**)'], deny: ['edit(keys/**)'] });
    expect(outcome(decide(files('write', 'src/a', 'src/b'), facts))).toBe('allow');
    expect(outcome(decide(files('write', 'src/a', 'lib/b'), facts))).toBe('ask');
    expect(outcome(decide(files('write', 'src/a', 'keys/b'), facts))).toBe('deny');
    expect(outcome(decide(callOf({ kind: 'files', access: 'write' }), facts))).toBe('ask');
    const patch = '*** Begin Patch\n*** Update File: src/a\n*** Move to: keys/a\n@@\n-a\n+b\n*** End Patch';
    expect(outcome(decide(callOf(subjectOf({ tool: 'apply_patch', input: { patch }, runs: 'host' })), facts))).toBe(
      'deny',
    );
  });

  test('hosts are names with ports; https is meant where a rule that allows names none', () => {
    const facts = factsOf({
      allow: ['web_fetch(docs.rs)', 'web_fetch(*.example.org:8080)', 'web_fetch(127.0.0.1:*)'],
      deny: ['web_fetch(evil.docs.rs)'],
    });
    const at = (url: string) => outcome(decide(fetching(url), facts));
    for (const url of [
      'https://docs.rs/x',
      'https://DOCS.RS/',
      'https://docs.rs./',
      'http://a.example.org:8080/',
      'http://127.0.0.1:9/',
    ])
      expect(at(url), url).toBe('allow');
    for (const url of [
      'http://docs.rs/',
      'https://docs.rs:444/',
      'https://docs.rs.evil.com/',
      'https://evildocs.rs/',
      'http://example.org:8080/',
      'https://a@evil.com/docs.rs',
      'https://dοcs.rs/',
      'https://evil.com?docs.rs',
    ])
      expect(at(url), url).toBe('ask');
    expect(at('http://evil.docs.rs:1/')).toBe('deny');
    expect(outcome(decide(fetching('file:///etc/passwd'), factsOf({ allow: ['web_fetch(docs.rs)'] })))).toBe('ask');
  });
});

describe('[DAY-007] modes', () => {
  const look = (mode: 'plan' | 'ask' | 'accept-edits' | 'auto', isTrusted = true) =>
    factsOf({ allow: ['shell(npm test)'] }, { mode, isTrusted });

  test('plan: only what is marked read-only, and commands that only look', () => {
    const facts = look('plan');
    expect(decideCommand('git diff | head', facts).effect).toBe('allow');
    expect(decideCommand('npm test', facts)).toMatchObject({ effect: 'deny', why: PLAN_REFUSAL });
    expect(decideCommand('ls > x', facts).effect).toBe('deny');
    expect(decide(files('write', 'src/a'), facts).effect).toBe('deny');
    expect(decide({ ...files('read', 'src/a'), isReadOnly: true }, facts).effect).toBe('none');
    expect(
      decide(callOf({ kind: 'other' }, { tool: 'deploy' }), { ...facts, rules: [parseRule('*', 'allow', 'session')] })
        .effect,
    ).toBe('deny');
  });

  test('accept edits: files in the folders, and nothing else', () => {
    const facts = look('accept-edits');
    expect(decide(files('write', 'src/a'), facts)).toMatchObject({ effect: 'allow', rule: { scope: 'built-in' } });
    expect(outcome(decide(files('write', '/etc/x'), facts))).toBe('ask');
    expect(outcome(decideCommand('ls', facts))).toBe('ask');
    expect(decideCommand('npm test', facts).effect).toBe('allow');
    expect(decideCommand('npm test > build.log', facts).effect).toBe('allow');
    expect(outcome(decideCommand('npm test > build.log', look('ask')))).toBe('ask');
  });

  test('auto: rules decide, without a rule a person is asked, and a deny stays a deny', () => {
    expect(decideCommand('npm test', look('auto')).effect).toBe('allow');
    expect(decideCommand('git status', look('auto')).effect).toBe('allow');
    expect(outcome(decideCommand('npm run deploy', look('auto')))).toBe('ask');
    expect(
      decideCommand('git status', factsOf({ deny: ['shell(git *)'] }, { mode: 'auto', isTrusted: true })).effect,
    ).toBe('deny');
    expect(decide(files('write', 'src/a'), factsOf({ ask: ['edit(src/**)'] }, { mode: 'auto' })).effect).toBe('ask');
  });
});

describe('[DAY-005] what "always allow" proposes', () => {
  const propose = (line: string, texts = {}) => proposedRules(commandCall(line), factsOf(texts));

  test('the narrowest rules that are of use', () => {
    expect(propose('git diff HEAD~1')).toEqual(['shell(git diff *)']);
    expect(propose('npm test')).toEqual(['shell(npm test)']);
    expect(propose('npm run build -- --fast')).toEqual(['shell(npm run build -- --fast)']);
    expect(propose("git commit -m 'a b'")).toEqual(["shell(git commit -m 'a b')"]);
    expect(propose('cd src && npm test | tail -5')).toEqual(['shell(cd *)', 'shell(npm test)', 'shell(tail *)']);
    expect(propose('NODE_ENV=test npm test')).toEqual(['shell(NODE_ENV=test npm test)']);
    expect(propose('timeout 10 npm test > out.log')).toEqual(['shell(npm test)', 'edit(./out.log)']);
    expect(propose('git diff --output=x')).toEqual(['shell(git diff --output=x)']);
    expect(propose('npm test && npm run lint', { allow: ['shell(npm test)'] })).toEqual(['shell(npm run lint)']);
    expect(propose("echo it\\'s '*'; make 'a*b'")).toEqual(['shell(echo *)', "shell(make 'a*b')"]);
    expect(proposedRules(files('write', 'src/[id]/a.ts'), factsOf({}))).toEqual(['edit(src/\\[id\\]/a.ts)']);
    expect(proposedRules(files('write', '/etc/x'), factsOf({}))).toEqual(['edit(/etc/x)']);
    expect(proposedRules(fetching('https://docs.rs/serde'), factsOf({}))).toEqual(['web_fetch(docs.rs:443)']);
    expect(proposedRules(callOf({ kind: 'other' }, { tool: 'search', owner: 'mcp-a' }), factsOf({}))).toEqual([
      'mcp-a:search',
    ]);
  });

  test('nothing where no rule would allow the call: what is unclear, forbidden, or a client runs', () => {
    for (const line of ['eval $x', 'f() { ls; }', 'make $x', '$x', 'echo {a,b}', 'ls; ls\r'])
      expect(propose(line), line).toEqual([]);
    expect(propose('rm x', { deny: ['shell(rm *)'] })).toEqual([]);
    expect(propose('git status', { ask: ['shell(git *)'] })).toEqual([]);
    expect(proposedRules(callOf({ kind: 'other' }, { tool: 'x', isOfClient: true }), factsOf({}))).toEqual([]);
  });

  test('what it proposes allows the call, and not the same call with another command behind it', () => {
    for (const line of [
      'git diff HEAD',
      'npm test',
      'npm ci --ignore-scripts',
      'sudo systemctl restart x',
      'cp a b',
      'node x.js',
    ]) {
      const facts = factsOf({ allow: propose(line) });
      expect(decideCommand(line, facts).effect, line).toBe('allow');
      expect(outcome(decideCommand(`${line}; evil`, facts)), line).toBe('ask');
      expect(outcome(decideCommand(`X=1 ${line}`, facts)), line).toBe('ask');
    }
  });
});

describe('[DAY-002] the shell of the person', () => {
  afterEach(() => vi.unstubAllEnvs());
  const run = (runs: 'host' | 'agent', command: string) => {
    const tool = runs === 'host' ? 'shell' : 'Bash';
    return callOf(subjectOf({ tool, input: { command }, runs }), { tool });
  };

  test.each(['/usr/bin/zsh', '/usr/bin/fish', '/opt/nu'])('%s is another language: agents are asked about', (shell) => {
    vi.stubEnv('SHELL', shell);
    const facts = factsOf({ allow: ['shell(git status)'], deny: ['shell(rm *)'] });
    expect(outcome(decide(run('agent', 'git status'), facts))).toBe('ask');
    expect(outcome(decide(run('agent', 'rm x'), facts))).toBe('ask');
    expect(proposedRules(run('agent', 'git status'), facts)).toEqual([]);
    // The person reads why the rule does not count, and what would let it.
    expect(decide(run('agent', 'git status'), factsOf({ allow: ['shell(git status)'] })).why).toMatch(
      new RegExp(`the agent runs it in ${path.basename(shell)}, .* SHELL=/bin/bash`),
    );
    // A rule without a pattern needs no parser.
    expect(outcome(decide(run('agent', 'git status'), factsOf({ allow: ['shell'] })))).toBe('allow');
    expect(outcome(decide(run('agent', 'git status'), factsOf({ deny: ['shell'] })))).toBe('deny');
    // The tool of the host runs /bin/sh, whatever the person's shell is.
    expect(outcome(decide(run('host', 'git status'), facts))).toBe('allow');
    expect(outcome(decide(run('host', 'rm x'), facts))).toBe('deny');
  });

  test.each(['/bin/sh', '/usr/bin/bash', '/bin/dash'])('%s is read', (shell) => {
    vi.stubEnv('SHELL', shell);
    const facts = factsOf({ allow: ['shell(git status)'], deny: ['shell(rm *)'] });
    expect(outcome(decide(run('agent', 'git status'), facts))).toBe('allow');
    expect(outcome(decide(run('agent', 'rm x'), facts))).toBe('deny');
  });
});
