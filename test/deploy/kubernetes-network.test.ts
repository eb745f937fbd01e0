import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ipaddr from 'ipaddr.js';
import { parse } from 'yaml';
import { Settings } from '../../api/platform/config.js';
import {
  type Labels,
  named,
  ofKind,
  pod,
  type PolicyRule,
  portOf,
  read,
  root,
  servicePods,
  settingsIn,
} from './kubernetes-manifests.js';

const settings = settingsIn('base/settings.env');
const policy = (component: string) => named('NetworkPolicy', `assent-${component}`).spec;
const portsOf = (rules: PolicyRule[] = []) =>
  rules.flatMap(({ ports }) => ports.map(({ protocol, port }) => `${protocol} ${port}`));

describe('the network', () => {
  const DNS = ['UDP 53', 'TCP 53'];
  const https = settings['OUTBOUND_PORTS']?.split(',').map((port) => `TCP ${port}`) ?? [];
  const temporal = `TCP ${new URL(`tcp://${settings['TEMPORAL_ADDRESS']}`).port}`;

  test('lets the ingress controller reach the API, Prometheus the metrics, and nobody else anything', () => {
    const entrances = (component: string) =>
      (policy(component).ingress ?? []).map(({ from, ports }) => {
        expect(ports.map(({ port }) => portOf(component, String(port)))).not.toContain(undefined);
        return [from?.map(({ namespaceSelector }) => namespaceSelector.matchLabels), ports.map(({ port }) => port)];
      });
    const prometheus = [[{ 'assent-prometheus': 'allowed' }], ['metrics']];
    expect(entrances('api')).toEqual([[[{ 'assent-ingress': 'allowed' }], ['http']], prometheus]);
    expect(entrances('worker')).toEqual([prometheus]);
    expect(entrances('migrate')).toEqual([]);
  });

  test('lets each pod reach the ports that its settings name, and no other', () => {
    for (const { spec } of ofKind('NetworkPolicy')) expect(spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'] });
    expect(portsOf(policy('api').egress)).toEqual([...DNS, 'TCP 5432', ...https]);
    // 465 and 587: ports of smtps:// and smtp:// without one.
    expect(portsOf(policy('worker').egress)).toEqual([...DNS, 'TCP 5432', temporal, 'TCP 465', 'TCP 587', ...https]);
    expect(portsOf(policy('migrate').egress)).toEqual([...DNS, 'TCP 5432']);
    const endpoint = new URL(settingsIn('example/settings.env')['S3_ENDPOINT'] ?? '');
    expect(https).toContain(`TCP ${endpoint.port || { 'https:': 443, 'http:': 80 }[endpoint.protocol]}`);
  });

  test.each(servicePods)('lets %s send https to public addresses only', (component) => {
    const rules = (policy(component).egress ?? []).filter(({ to = [] }) => to.some(({ ipBlock }) => ipBlock));
    expect(portsOf(rules)).toEqual(https);
    const blocks = rules.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
    const isIn = (address: string, range: string) => {
      const [parsed, [network, bits]] = [ipaddr.parse(address), ipaddr.parseCIDR(range)];
      return parsed.kind() === network.kind() && parsed.match(network, bits);
    };
    const allowed = (address: string) =>
      blocks.some(({ cidr, except }) => isIn(address, cidr) && !except.some((range) => isIn(address, range)));
    const open = ['8.8.8.8', '172.32.0.1', '2606:4700::1111'];
    const closed = ['10.0.0.1', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.168.1.1'];
    expect(open.filter((address) => !allowed(address))).toEqual([]);
    expect([...closed, 'fd00::1', 'fe80::1'].filter(allowed)).toEqual([]);
  });

  test('the ingress leads to a port of the Service, at the address of the settings', () => {
    const { rules = [] } = named('Ingress', 'assent').spec;
    expect(rules.map(({ host }) => host)).toEqual([new URL(settingsIn('example/settings.env')['BASE_URL'] ?? '').host]);
    for (const { service } of rules.flatMap(({ http }) => http.paths.map(({ backend }) => backend))) {
      const port = named('Service', service.name).spec.ports?.find(({ name }) => name === service.port.name);
      expect(portOf('api', port?.targetPort ?? '')).toBe(Settings.shape.PORT.parse(undefined));
    }
    // The metrics are in no Service.
    expect(ofKind('Service').flatMap(({ spec }) => spec.ports?.map(({ targetPort }) => targetPort))).toEqual(['http']);
  });
});

describe('the monitoring', () => {
  test('the alert rules are those of deploy/prometheus: run deploy/kubernetes/monitoring/write-rules.sh', () => {
    const folder = mkdtempSync(join(tmpdir(), 'assent-rules-'));
    try {
      const written = join(folder, 'rules.yaml');
      const run = spawnSync('sh', [join(root, 'deploy/kubernetes/monitoring/write-rules.sh'), written], { encoding: 'utf8' });
      expect(run).toMatchObject({ status: 0, stderr: '' });
      expect(read('deploy/kubernetes/monitoring/rules.yaml')).toBe(readFileSync(written, 'utf8'));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    expect(named('PrometheusRule', 'assent').spec).toEqual(parse(read('deploy/prometheus/assent.rules.yml')));
  });

  test('Prometheus gives the pods the labels that the alerts read', () => {
    const { jobLabel = '', podMetricsEndpoints = [] } = named('PodMonitor', 'assent').spec;
    const rules = read('deploy/prometheus/assent.rules.yml');
    const valuesOf = (label: string) =>
      new Set([...rules.matchAll(new RegExp(`\\b${label}="([^"]+)"`, 'g'))].map(([, value]) => value));
    const labelsOf = (name: string) => new Set(servicePods.map((component) => pod(component).metadata.labels[name]));
    expect([...labelsOf(jobLabel)]).toEqual([...valuesOf('job')]);
    expect(podMetricsEndpoints.map(({ port }) => port)).toEqual(['metrics']);
    for (const component of servicePods) expect(portOf(component, 'metrics')).toBeDefined();
    const [relabeling] = podMetricsEndpoints[0]?.relabelings ?? [];
    expect(relabeling?.targetLabel).toBe('service');
    const label = 'app.kubernetes.io/component';
    expect(relabeling?.sourceLabels).toEqual([`__meta_kubernetes_pod_label_${label.replace(/\W/g, '_')}`]);
    expect([...labelsOf(label)]).toEqual(expect.arrayContaining([...valuesOf('service')]));
  });
});

describe('the autoscalers', () => {
  const autoscalers = ofKind('HorizontalPodAutoscaler').map(({ spec }) => spec);

  test('scale a Deployment that is there, and never below its replicas', () => {
    for (const { scaleTargetRef, minReplicas } of autoscalers) {
      const target = named('Deployment', scaleTargetRef?.name ?? '');
      expect(scaleTargetRef).toEqual({ apiVersion: target.apiVersion, kind: target.kind, name: target.metadata.name });
      expect(minReplicas).toBe(target.spec.replicas);
    }
  });

  test('read metrics that the adapter serves and that the alerts read too', () => {
    const adapter = parse(read('deploy/kubernetes/autoscaling/prometheus-adapter.values.yaml')) as {
      rules: Record<'custom' | 'external', { seriesQuery: string; resources: { overrides: Labels } }[]>;
    };
    const served = (kind: 'custom' | 'external') => adapter.rules[kind].map(({ seriesQuery }) => /^\w+/.exec(seriesQuery)?.[0]);
    const scaled = (kind: 'pods' | 'external') =>
      autoscalers.flatMap(({ metrics = [] }) => metrics.flatMap((each) => each[kind]?.metric.name ?? []));
    expect([scaled('pods'), scaled('external')]).toEqual([served('custom'), served('external')]);
    // test/deploy/metrics.test.ts proves that a scrape has what the alerts read.
    for (const name of [...scaled('pods'), ...scaled('external')])
      expect(read('deploy/prometheus/assent.rules.yml')).toMatch(new RegExp(`\\b${name}\\b`));
  });
});
