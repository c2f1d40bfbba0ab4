/** Telemetry as a service of the host: spans of its sessions, channels for clients, a collector if there is one. */
import type { HostCore } from '../core/contracts/host-core.js';
import type { Service } from '../core/contracts/service.js';
import { TelemetryChannels } from './channels.js';
import { HttpExporter } from './http-exporter.js';
import { SessionSpans } from './session-spans.js';

export interface TelemetryChoice {
  /** A collector that takes OTLP over HTTP, as in `http://127.0.0.1:4318`. */
  readonly endpoint?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `atrium` by default. */
  readonly serviceName?: string;
}

export function createTelemetry(core: HostCore, { endpoint, headers = {} }: TelemetryChoice): Service {
  const { clock, logger, telemetry } = core;
  const channels = new TelemetryChannels(core);
  telemetry.addSink(channels);
  const exporter = endpoint === undefined ? undefined : new HttpExporter({ endpoint, headers, clock, logger });
  if (exporter) telemetry.addSink(exporter);
  return {
    scheme: channels.scheme,
    greeting: channels.greeting,
    open: (uri) => channels.open(uri),
    unwatched: (uri) => channels.unwatched(uri),
    attach: (session) => new SessionSpans(session, telemetry),
    close: async () => {
      telemetry.flush();
      await exporter?.close();
    },
  };
}
