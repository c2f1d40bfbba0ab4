/** What the log says about agents at the start: who is there, and what a person asked for in vain. */
import type { Discovered, Logger } from '@atrium/host';
import type { FoundAgents } from './find-agents.js';

export function tellAgents({ agents, discovered, config }: FoundAgents, logger: Logger): void {
  for (const warning of config.warnings) logger.log('warn', warning);
  tellWaiting(config.waiting, logger);
  for (const agent of discovered) tellAgent(agent, logger);
  const { defaultAgent } = config.config;
  if (defaultAgent !== undefined && !agents.some(({ info }) => info.provider === defaultAgent)) {
    logger.log('warn', 'the default agent of the configuration is not there', { defaultAgent });
  }
}

function tellWaiting(waiting: FoundAgents['config']['waiting'], logger: Logger): void {
  if (!waiting) return;
  const { file, entries } = waiting;
  logger.log('warn', 'atrium.json is not used, because its folder is not trusted; --trust <folder> uses it', {
    file,
    waiting: entries.join(', '),
  });
}

function tellAgent({ provider, found, isNamed, why, backend }: Discovered, logger: Logger): void {
  if (found) logger.log('info', 'agent found', { provider, models: backend?.info.models.length, why });
  else logger.log(isNamed ? 'warn' : 'debug', 'agent not found; going on without it', { provider, why });
}
