/** Agents that come as packages of their makers. They are optional: absent is as good as present. */
import type { ChangeEntry } from '../config/schema.js';
import { type Candidate, type Look, type Machine, NO_FACTORY, notFound, type SdkOptions } from './candidate.js';

interface AgentPackage {
  readonly kind: 'copilot' | 'claude';
  readonly displayName: string;
  readonly package: string;
}

const PACKAGES: readonly AgentPackage[] = [
  { kind: 'copilot', displayName: 'GitHub Copilot', package: '@github/copilot-sdk' },
  { kind: 'claude', displayName: 'Claude Code', package: '@anthropic-ai/claude-agent-sdk' },
];

export function packageCandidates(machine: Machine): Candidate[] {
  return PACKAGES.map(({ kind, displayName }) => ({
    provider: kind,
    displayName,
    source: 'package',
    isNamed: false,
    look: ({ displayName: name = displayName, models }: ChangeEntry) =>
      sdkLook(machine, kind, { provider: kind, displayName: name, models }),
  }));
}

export function sdkName(kind: AgentPackage['kind']): string {
  return PACKAGES.find((candidate) => candidate.kind === kind)?.displayName ?? kind;
}

export async function sdkLook(machine: Machine, kind: AgentPackage['kind'], options: SdkOptions): Promise<Look> {
  const name = PACKAGES.find((candidate) => candidate.kind === kind)?.package ?? kind;
  if (!(await machine.isInstalled(name))) return notFound(`its package is not installed: npm install ${name}`);
  const make = machine.factories[kind];
  return make ? { found: true, why: `${name} is installed`, backend: make(options) } : NO_FACTORY;
}
