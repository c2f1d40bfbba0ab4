/** Where telemetry goes, by options and by the usual variables. */
import { describe, expect, it } from 'vitest';
import { telemetryFrom } from '../src/serve/settings.js';

describe('the place of telemetry', () => {
  it('is nowhere unless somebody says so', () => {
    expect(telemetryFrom(undefined, {})).toBeUndefined();
    expect(telemetryFrom(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBeUndefined();
    expect(telemetryFrom('http://127.0.0.1:4318', { OTEL_SDK_DISABLED: 'true' })).toBeUndefined();
  });

  it('comes from the option before the variables, with headers and a name', () => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b, broken, y=1',
      OTEL_SERVICE_NAME: 'mine',
    };
    const headers = { 'x-key': 'a b', y: '1' };
    expect(telemetryFrom(undefined, env)).toEqual({ endpoint: 'http://collector:4318', headers, serviceName: 'mine' });
    expect(telemetryFrom('https://other', env)?.endpoint).toBe('https://other');
  });

  it('must be an address', () => {
    expect(() => telemetryFrom('127.0.0.1:4318', {})).toThrow(/http:\/\/127\.0\.0\.1:4318/);
  });
});
