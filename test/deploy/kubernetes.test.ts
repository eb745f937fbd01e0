import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Settings } from '../../api/platform/config.js';
import {
  allContainers,
  containersOf,
  environmentOf,
  filesIn,
  FOLDERS,
  kustomization,
  type Labels,
  mainOf,
  matches,
  named,
  ofKind,
  pod,
  pods,
  portOf,
  read,
  resources,
  root,
  servicePods,
  settingsIn,
} from './kubernetes-manifests.js';
import { schemaProblems } from './kubernetes-schemas.js';

const { version } = JSON.parse(read('package.json')) as { version: string };
const numberIn = (path: string, name: string): number =>
  Number(new RegExp(`^const ${name} = ([\\d_]+);$`, 'm').exec(read(path))?.[1]?.replaceAll('_', ''));

describe('the manifests', () => {
  test.each(resources.map((resource) => [`${resource.kind} ${resource.metadata.name}`, resource] as const))(
    '%s matches its schema and has no unknown field',
    (_name, resource) => {
      expect(schemaProblems(resource)).toEqual([]);
    },
  );

  test('are all listed in their kustomization, once, and name no namespace', () => {
    for (const folder of FOLDERS) {
      const { resources: listed, configMapGenerator = [] } = kustomization(folder);
      const notForKubectl = /^kustomization\.yaml$|\.sh$|\.values\.yaml$/;
      const expected = filesIn(folder).filter((name) => !notForKubectl.test(name));
      const used = [...listed.filter((name) => !name.startsWith('../')), ...configMapGenerator.flatMap(({ envs }) => envs)];
      expect([folder, used.toSorted()]).toEqual([folder, expected.toSorted()]);
    }
    const names = resources.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(resources.filter(({ metadata }) => metadata.namespace !== undefined)).toEqual([]);
  });

  test('run the image of this version, and start files that the image has', () => {
    expect(kustomization('base').images).toEqual([{ name: 'assent', newTag: version }]);
    expect(kustomization('example').images).toEqual([{ name: 'assent', newName: 'registry.example.com/assent' }]);
    for (const [name, { image, args }] of allContainers) {
      expect([name, image]).toEqual([name, 'assent']);
      const source = args[0]?.replace(/^dist\/(.*)\.js$/, '$1.ts') ?? '';
      expect([name, source, existsSync(join(root, source))]).toEqual([name, source, true]);
    }
    expect(ofKind('Job').map(({ metadata }) => metadata.name)).toEqual([`assent-migrate-${version.replaceAll('.', '-')}`]);
  });
});

describe('the pods', () => {
  test.each(pods)('%s cannot gain rights, reaches no API server and runs as the user of the image', (_component, { spec }) => {
    const user = Number(/^USER (\d+):\1$/m.exec(read('Dockerfile'))?.[1]);
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(spec.enableServiceLinks).toBe(false);
    expect(user).toBeGreaterThan(0);
    expect(spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: user,
      runAsGroup: user,
      fsGroup: user,
      seccompProfile: { type: 'RuntimeDefault' },
    });
  });

  test.each(allContainers)('%s is locked and has limits', (_name, { securityContext, resources: limits }) => {
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    for (const kind of ['requests', 'limits'] as const)
      expect(limits?.[kind]).toEqual({ cpu: expect.stringMatching(/^\d+m?$/), memory: expect.stringMatching(/^\d+[MG]i$/) });
  });

  test('have the ports of the settings, and probes at the port of their metrics', () => {
    const ofSetting = (name: 'PORT' | 'METRICS_PORT' | 'WORKER_METRICS_PORT') => Settings.shape[name].parse(undefined);
    expect([portOf('api', 'http'), portOf('api', 'metrics'), portOf('worker', 'metrics')]).toEqual([
      ofSetting('PORT'),
      ofSetting('METRICS_PORT'),
      ofSetting('WORKER_METRICS_PORT'),
    ]);
    for (const component of servicePods) {
      const { startupProbe, livenessProbe, readinessProbe } = mainOf(component);
      expect([startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet)).toEqual([
        { path: '/livez', port: 'metrics' },
        { path: '/livez', port: 'metrics' },
        { path: '/readyz', port: 'metrics' },
      ]);
    }
  });

  test('have time to drain before they are killed', () => {
    const delay = Number(settingsIn('base/settings.env')['SHUTDOWN_DELAY_SECONDS']);
    const drains = {
      api: delay + numberIn('api/http/serving/serve.ts', 'DRAIN_MS') / 1_000,
      worker: numberIn('activities/worker/start-worker.ts', 'DRAIN_MS') / 1_000,
    };
    for (const component of servicePods)
      expect(pod(component).spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drains[component] + 10);
  });

  test('mount volumes that they declare, at a path once, and write only to these', () => {
    for (const [component, each] of pods) {
      const declared = each.spec.volumes.map(({ name }) => name);
      const mounts = containersOf(each).map(({ volumeMounts = [] }) => volumeMounts);
      expect([component, [...new Set(mounts.flat().map(({ name }) => name))].toSorted()]).toEqual([
        component,
        declared.toSorted(),
      ]);
      for (const paths of mounts.map((list) => list.map(({ mountPath }) => mountPath)))
        expect(new Set(paths).size).toBe(paths.length);
    }
    // Workers append to one file of checkpoints, so they share the volume; the API keeps nothing.
    const claims = pods.flatMap(([component, { spec }]) =>
      spec.volumes.flatMap(({ persistentVolumeClaim: claim }) => (claim ? [[component, claim.claimName] as const] : [])),
    );
    expect(claims.map(([component]) => component)).toEqual(['worker']);
    for (const [, name] of claims) expect(named('PersistentVolumeClaim', name).spec.accessModes).toEqual(['ReadWriteMany']);
    for (const component of servicePods)
      expect(mainOf(component).volumeMounts?.map(({ mountPath }) => mountPath)).toContain(
        environmentOf(mainOf(component))['DATA_DIR'],
      );
  });
});

test('every selector finds its pods, and only these', () => {
  const found = (selector: Parameters<typeof matches>[0] | undefined) =>
    pods.flatMap(([component, { metadata }]) => (selector && matches(selector, metadata.labels) ? [component] : []));
  const component = (name: string) => name.replace(/^assent-/, '');
  for (const { kind, metadata, spec } of resources) {
    const own = [component(metadata.name)];
    if (kind === 'Deployment') {
      expect(found(spec.selector)).toEqual(own);
      expect(spec.template?.spec.topologySpreadConstraints?.map(({ labelSelector }) => found(labelSelector))).toEqual([own]);
    }
    if (kind === 'PodDisruptionBudget') expect(found(spec.selector)).toEqual(own);
    if (kind === 'Service') expect(found({ matchLabels: spec.selector as unknown as Labels })).toEqual(own);
    if (kind === 'NetworkPolicy') expect(found(spec.podSelector)).toEqual(own);
    if (kind === 'PodMonitor') expect(found(spec.selector)).toEqual([...servicePods]);
  }
  // Each pod has a policy; each Deployment a budget and an autoscaler.
  const namesOf = (kind: string) => ofKind(kind).map(({ metadata }) => component(metadata.name));
  expect(namesOf('NetworkPolicy').toSorted()).toEqual(pods.map(([name]) => name).toSorted());
  for (const kind of ['PodDisruptionBudget', 'HorizontalPodAutoscaler']) expect(namesOf(kind)).toEqual(namesOf('Deployment'));
});
