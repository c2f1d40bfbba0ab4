/** Where telemetry is sent, by our own option or by the variables that every program with OpenTelemetry knows. */
import type { TelemetryChoice } from '@atrium/host';
import { UsageError } from '../exit.js';

export function telemetryFrom(option: string | undefined, env: NodeJS.ProcessEnv): TelemetryChoice | undefined {
  const endpoint = option ?? (env.OTEL_EXPORTER_OTLP_ENDPOINT || undefined);
  if (endpoint === undefined || env.OTEL_SDK_DISABLED === 'true') return undefined;
  return {
    endpoint: checkedUrl(endpoint),
    headers: headersFrom(env.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    ...(env.OTEL_SERVICE_NAME && { serviceName: env.OTEL_SERVICE_NAME }),
  };
}

function checkedUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new UsageError(`--otlp: "${text}" is not the address of a collector. Write it as http://127.0.0.1:4318`);
}

/** `key=value,key=value`, with values as in a URL. */
function headersFrom(list: string): Record<string, string> {
  const pairs = list.split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at > 0 ? [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]] : [];
  });
  return Object.fromEntries(pairs);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
