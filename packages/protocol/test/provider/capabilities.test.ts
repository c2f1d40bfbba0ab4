import { describe, expect, it } from 'vitest';
import {
  CAPABILITIES,
  type Capability,
  type CapabilityGrants,
  grantOf,
  PROTECTED_SECTION_ACTIONS,
  PROTECTED_SECTIONS,
  TRUST_LEVELS,
} from '../../src/provider/capabilities.js';
import { SESSION_EVENT_NAMES } from '../../src/provider/message-types.js';

type Row<Name extends Capability> = readonly [
  id: string,
  internal: CapabilityGrants[Name],
  project: CapabilityGrants[Name],
  external: CapabilityGrants[Name],
];

const anyTransform = ['append', 'prepend', 'replace'] as const;

const EXPECTED: { readonly [Name in Capability]: Row<Name> } = {
  registerTools: ['[GW-046] ', true, true, true],
  push: ['[GW-047] ', true, true, true],
  registerHookRules: ['[GW-048] ', true, true, false],
  callbackTransforms: ['[GW-049] ', true, true, false],
  staticTransforms: ['[GW-050] ', anyTransform, anyTransform, ['append']],
  queryOwnStreams: ['[GW-051] ', true, true, true],
  queryOtherStreams: ['[GW-052] ', true, false, false],
  subscribe: ['[GW-053] ', SESSION_EVENT_NAMES, SESSION_EVENT_NAMES, ['tool.execution_complete']],
  bind: ['[GW-054] ', 'any', 'spawning-session', 'paired-session'],
  setContext: ['[GW-055] ', true, true, false],
  fileResults: ['', true, true, false],
};

describe('the capability matrix', () => {
  it('knows three levels of trust', () => {
    expect(TRUST_LEVELS).toEqual(['internal', 'project', 'external']);
  });

  it('has a row for each capability', () => {
    expect([...CAPABILITIES].sort()).toEqual(Object.keys(EXPECTED).sort());
  });

  for (const capability of CAPABILITIES) {
    const [id, ...grants] = EXPECTED[capability];
    it(`${id}grants ${capability}: ${grants.join(' | ')}`, () => {
      expect(TRUST_LEVELS.map((trust) => grantOf(capability, trust))).toEqual(grants);
    });
  }

  it('never grants a lower level more than a higher one', () => {
    for (const capability of CAPABILITIES) {
      const [internal, project, external] = TRUST_LEVELS.map((trust) => weightOf(grantOf(capability, trust)));
      expect([internal, project, external]).toEqual([internal, project, external].sort().reverse());
    }
  });
});

describe('protected sections', () => {
  it('are two, and can be appended to at most', () => {
    expect([...PROTECTED_SECTIONS].sort()).toEqual(['identity', 'safety']);
    expect(PROTECTED_SECTION_ACTIONS).toEqual(['append']);
  });
});

/** How much a grant grants, for comparing grants of one capability. */
function weightOf(grant: CapabilityGrants[Capability]): number {
  if (typeof grant === 'boolean') return grant ? 1 : 0;
  if (typeof grant === 'string') return grant === 'any' ? 1 : 0;
  return grant.length;
}
