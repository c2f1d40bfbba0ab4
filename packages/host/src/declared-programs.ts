/** Every program that a folder would start if a person trusted it, for `atrium trust`, which has no session. */
import path from 'node:path';
import type { Logger } from '@atrium/core/util/logger.js';
import { PROJECT_FILE, readConfigFile } from './config/config-file.js';
import { PROJECT_PROVIDERS_MAX } from './gateway/project/project-providers.js';
import { Container } from './plugins/customizations/container.js';
import { findSources } from './plugins/customizations/find-sources.js';
import { programsOf } from './plugins/customizations/permissions.js';
import { agentProgram, type Program, providerProgram, ruleProgram } from './plugins/trust/programs.js';

export interface DeclaredPrograms {
  /** What the host starts once the folder is trusted. */
  readonly programs: readonly Program[];
  /** Providers beyond `PROJECT_PROVIDERS_MAX`: the host does not start them, so they are not among the programs. */
  readonly providersNotStarted: number;
}

/**
 * Throws a `ConfigError` when the project file is unusable. Only sessions know what an agent declares inside the
 * folder; they ask about that.
 */
export async function declaredPrograms(folder: string, logger: Logger = { log: () => {} }): Promise<DeclaredPrograms> {
  const { config } = (await readConfigFile(path.join(folder, PROJECT_FILE))) ?? {};
  const providers = Object.entries(config?.providers ?? {});
  const expansion = { env: process.env, platform: process.platform };
  const sources = await findSources({ folder, isTrusted: true, declared: [], expansion, logger });
  const found = await Promise.all(
    sources.map(async (source) => {
      if (source.kind === 'mcpServer') return programsOf(source, folder);
      const container = new Container(source, { expansion });
      await container.load();
      return programsOf(container, folder);
    }),
  );
  const programs = [
    ...Object.entries(config?.agents ?? {}).map(([id, entry]) => agentProgram(id, entry, folder)),
    ...providers.slice(0, PROJECT_PROVIDERS_MAX).map(([name, provider]) => providerProgram(name, provider, folder)),
    ...found.flat(),
    ...(config?.permissions?.allow ?? []).map((rule) => ruleProgram(rule.trim())),
  ];
  return {
    programs: [...new Map(programs.map((program) => [program.digest, program])).values()],
    providersNotStarted: Math.max(0, providers.length - PROJECT_PROVIDERS_MAX),
  };
}
