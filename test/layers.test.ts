import { describe, expect, it } from 'vitest';
import { againstTable, importsOf, LAYERS, layerOf, RULES, violations, wrongSteps } from '../scripts/layers.mjs';

/** The names of the rules that a file with this one import breaks. */
function broken(file: string, specifier: string): string[] {
  return violations(file, `import { thing } from '${specifier}';\n`).map(({ rule }) => rule.name);
}

/** For each rule: imports that break it, and neighbours that do not. */
const CASES: Record<
  string,
  { bites: [file: string, specifier: string][]; spares: [file: string, specifier: string][] }
> = {
  'protocol-stands-alone': {
    bites: [
      ['packages/protocol/src/session/reducer.ts', '@atrium/host'],
      ['packages/protocol/scripts/generate.ts', '@atrium/client'],
    ],
    spares: [
      ['packages/protocol/src/session/reducer.ts', 'typebox'],
      ['packages/protocol/test/exports.test.ts', '@atrium/protocol'],
    ],
  },
  'link-stands-alone': {
    bites: [['packages/link/src/transport.ts', '@atrium/protocol']],
    spares: [['packages/link/src/websocket.ts', 'ws']],
  },
  'client-knows-protocol': {
    bites: [
      ['packages/client/src/store.ts', '@atrium/host'],
      ['packages/client/src/store.ts', '@atrium/protocol-extras'],
    ],
    spares: [
      ['packages/client/src/store.ts', '@atrium/protocol'],
      ['packages/client/src/store.ts', '@atrium/protocol/validation'],
    ],
  },
  'provider-knows-protocol': {
    bites: [['packages/provider/src/connect.ts', '@atrium/client']],
    spares: [['packages/provider/src/connect.ts', '@atrium/protocol/provider']],
  },
  'core-knows-protocol': {
    bites: [
      ['packages/core/src/sessions/turn.ts', '@atrium/host'],
      ['packages/core/src/sessions/turn.ts', '@atrium/agents'],
    ],
    spares: [
      ['packages/core/src/sessions/turn.ts', '@atrium/protocol'],
      ['packages/core/src/util/clock.ts', '@atrium/link'],
    ],
  },
  'agents-know-contracts': {
    bites: [
      ['packages/agents/src/model/session.ts', '@atrium/core/sessions/session.js'],
      ['packages/agents/src/model/session.ts', '@atrium/core/post-commit.js'],
      ['packages/agents/src/model/session.ts', '@atrium/host'],
    ],
    spares: [
      ['packages/agents/src/model/session.ts', '@atrium/core/contracts/agent.js'],
      ['packages/agents/src/model/session.ts', '@atrium/core/util/clock.js'],
      ['packages/agents/src/model/session.ts', '@atrium/protocol'],
    ],
  },
  'agents-through-their-index': {
    bites: [
      ['packages/host/src/index.ts', '@atrium/agents/model/backend.js'],
      ['packages/cli/src/agents.ts', '@atrium/agents/shared/agent-info.js'],
    ],
    spares: [
      ['packages/host/src/index.ts', '@atrium/agents'],
      ['packages/agents/src/index.ts', './model/backend.js'],
      ['packages/host/test/agents/model-loop.test.ts', '../../../agents/src/model/answer.js'],
    ],
  },
  'host-knows-core-and-agents': {
    bites: [['packages/host/src/host.ts', '@atrium/client']],
    spares: [
      ['packages/host/src/host.ts', '@atrium/protocol'],
      ['packages/host/src/host.ts', '@atrium/core/wire/connection.js'],
      ['packages/host/src/host.ts', '@atrium/agents'],
    ],
  },
  'core-behind-the-host': {
    bites: [
      ['packages/cli/src/serve.ts', '@atrium/core/util/clock.js'],
      ['examples/client.ts', '@atrium/agents'],
    ],
    spares: [
      ['packages/host/src/compose.ts', '@atrium/core/util/clock.js'],
      ['bench/prompt.bench.mjs', '@atrium/core/prompt/prompt.js'],
    ],
  },
  'web-knows-protocol-and-client': {
    bites: [['packages/web/src/page.tsx', '@atrium/host']],
    spares: [
      ['packages/web/src/page.tsx', '@atrium/client'],
      ['packages/cli/src/serve.ts', '@atrium/host'],
    ],
  },
  'packages-by-name': {
    bites: [
      ['packages/host/src/host.ts', '../../protocol/src/index.js'],
      ['examples/client.ts', '../packages/client/src/index.js'],
    ],
    spares: [['packages/core/src/wire/connection.ts', '../channels/channel.js']],
  },
  'versions-at-the-border': {
    bites: [
      ['packages/protocol/src/session/reducer.ts', '../versions/introduced-in.js'],
      ['packages/protocol/src/methods.ts', './dialects/sessions-v1/actions.js'],
      ['packages/protocol/src/session/index.ts', '../versions/introduced-in.js'],
    ],
    spares: [
      ['packages/protocol/src/index.ts', './versions/introduced-in.js'],
      ['packages/protocol/src/dialects/sessions-v1/actions.ts', '../../versions/introduced-in.js'],
      ['packages/protocol/src/versions/introduced-in.ts', './negotiate.js'],
      ['packages/protocol/scripts/generate.ts', '../src/versions/introduced-in.js'],
    ],
  },
  'dialects-at-the-border': {
    bites: [
      ['packages/core/src/sessions/turn.ts', '@atrium/protocol/dialects'],
      ['packages/cli/src/serve.ts', '@atrium/protocol/dialects'],
    ],
    spares: [
      ['packages/core/src/wire/dialects/dialects.ts', '@atrium/protocol/dialects'],
      ['packages/host/test/dialects.test.ts', '@atrium/protocol/dialects'],
    ],
  },
  'runs-in-a-browser': {
    bites: [
      ['packages/protocol/src/uri.ts', 'node:path'],
      ['packages/client/src/store.ts', 'fs/promises'],
      ['packages/web/src/page.tsx', 'node:crypto'],
    ],
    spares: [
      ['packages/protocol/scripts/generate.ts', 'node:fs'],
      ['packages/web/vite.config.ts', 'node:path'],
      ['packages/core/src/log/log.ts', 'node:fs'],
    ],
  },
};

describe('import rules', () => {
  it('has cases for every rule', () => {
    expect(Object.keys(CASES).sort()).toEqual(RULES.map(({ name }) => name).sort());
  });

  describe.each(Object.entries(CASES))('%s', (name, { bites, spares }) => {
    it.each(bites)('%s may not import %s', (file, specifier) => {
      expect(broken(file, specifier)).toContain(name);
    });

    it.each(spares)('%s may import %s', (file, specifier) => {
      expect(broken(file, specifier)).toEqual([]);
    });
  });
});

describe('the layers of core, agents and host', () => {
  it('stand in the table from the bottom up, so that there can be no cycle', () => {
    const names = Object.keys(LAYERS);
    for (const [at, [folder, below]] of Object.entries(LAYERS).entries()) {
      for (const name of below)
        if (name !== '.') expect([folder, names.slice(0, at)]).toEqual([folder, expect.arrayContaining([name])]);
    }
  });

  it.each([
    ['packages/core/src/channels/writer.ts', '../wire/connection.js', 'core/channels -> core/wire'],
    [
      'packages/core/src/sessions/turn.ts',
      '../../../host/src/workspace/tools/shell.js',
      'core/sessions -> workspace/tools',
    ],
    ['packages/agents/src/model/backend.ts', '@atrium/core/sessions/session.js', 'agents -> core/sessions'],
    ['packages/host/src/config/config-schema.ts', '@atrium/core/sessions/session.js', 'config -> core/sessions'],
    ['packages/host/src/gateway/gateway.ts', '@atrium/agents', 'gateway -> agents'],
    ['packages/host/src/gateway/gateway.ts', '../core/util/clock.js', 'gateway -> ?'],
    ['packages/host/src/somewhere/new.ts', '@atrium/core/util/clock.js', '? -> core/util'],
  ])('%s may not import %s', (file, specifier, step) => {
    const [wrong] = wrongSteps(file, `import type { A } from '${specifier}';`);
    expect(wrong?.step).toBe(step);
    expect(againstTable(wrong ? [wrong] : [], {})).toHaveLength(1);
    expect(againstTable(wrong ? [wrong] : [], { [step]: 1 })).toEqual([]);
  });

  it.each([
    ['packages/core/src/wire/connection.ts', '../channels/writer.js'],
    ['packages/agents/src/acp/session.ts', '../shared/agent-info.js'],
    ['packages/agents/src/acp/session.ts', '@atrium/core/contracts/agent.js'],
    ['packages/host/src/discovery/candidate.ts', '@atrium/agents'],
    ['packages/host/src/compose.ts', './gateway/gateway.js'],
    ['packages/client/src/store.ts', './channel.js'],
  ])('%s may import %s', (file, specifier) => {
    expect(wrongSteps(file, `import { a } from '${specifier}';`)).toEqual([]);
  });

  it('an exception that is gone has to leave the list', () => {
    expect(againstTable([], { 'config -> gateway': 1 })).toEqual([
      'config -> gateway: only 0 left of 1 exceptions; correct the list',
    ]);
  });

  it('a file belongs to the longest name that its folder starts with', () => {
    expect(layerOf('packages/core/src/wire/transports/stdio.ts')).toBe('core/wire');
    expect(layerOf('packages/core/src/post-commit.ts')).toBe('core');
    expect(layerOf('packages/agents/src/index.ts')).toBe('agents');
    expect(layerOf('packages/host/src/host.ts')).toBe('.');
  });
});

describe('finding imports', () => {
  it.each([
    ["import 'a';", ['a']],
    ["import type { A } from 'a';", ['a']],
    ["import {\n  one,\n  two,\n} from 'a';", ['a']],
    ["export { one } from 'a';", ['a']],
    ["const a = await import('a');", ['a']],
    ['type A = import("a").A;', ['a']],
    ["const a = require('a');", ['a']],
    ["// import 'a';\n/* import 'b'; */ import 'c';", ['c']],
    ["const url = 'http://x'; import 'a';", ['a']],
  ])('%j', (source, expected) => {
    expect(importsOf(source)).toEqual(expected);
  });
});
