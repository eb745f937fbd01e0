import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';

export interface Labels {
  [name: string]: string;
}
export interface Selector {
  matchLabels: Labels;
  matchExpressions?: { key: string; operator: string; values: string[] }[];
}
interface Probe {
  httpGet: { path: string; port: string };
}
export interface Container {
  name: string;
  image: string;
  args: string[];
  env?: { name: string; value: string }[];
  envFrom?: { configMapRef: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  resources?: Record<'requests' | 'limits', Labels>;
  securityContext?: object;
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
}
export interface Pod {
  metadata: { labels: Labels };
  spec: {
    automountServiceAccountToken?: boolean;
    enableServiceLinks?: boolean;
    terminationGracePeriodSeconds?: number;
    securityContext?: object;
    topologySpreadConstraints?: { labelSelector: Selector }[];
    initContainers?: Container[];
    containers: Container[];
    volumes: {
      name: string;
      secret?: { secretName: string; optional?: boolean };
      persistentVolumeClaim?: { claimName: string };
    }[];
  };
}
export interface PolicyRule {
  from?: { namespaceSelector: Selector }[];
  to?: { ipBlock?: { cidr: string; except: string[] } }[];
  ports: { protocol: string; port: string | number }[];
}
export interface Resource {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Labels };
  data?: Labels;
  spec: {
    replicas?: number;
    minReplicas?: number;
    selector?: Selector;
    template?: Pod;
    accessModes?: string[];
    podSelector?: Selector;
    scaleTargetRef?: { apiVersion: string; kind: string; name: string };
    metrics?: Record<'pods' | 'external', { metric: { name: string } } | undefined>[];
    ingress?: PolicyRule[];
    egress?: PolicyRule[];
    jobLabel?: string;
    podMetricsEndpoints?: { port: string; relabelings: { sourceLabels: string[]; targetLabel: string }[] }[];
    ports?: { name: string; port: number; targetPort: string }[];
    rules?: {
      host: string;
      http: { paths: { backend: { service: { name: string; port: { name: string } } } }[] };
    }[];
  };
}
interface Kustomization {
  resources: string[];
  configMapGenerator?: { name: string; behavior?: string; envs: string[] }[];
  images?: { name: string; newName?: string; newTag?: string }[];
  patches?: { target: { kind: string; name: string }; patch: string }[];
}

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const read = (path: string): string => readFileSync(join(root, path), 'utf8');
export const FOLDERS = ['base', 'monitoring', 'autoscaling', 'example'] as const;
export const filesIn = (folder: string): string[] => readdirSync(join(root, 'deploy/kubernetes', folder));
export const kustomization = (folder: string): Kustomization =>
  parse(read(`deploy/kubernetes/${folder}/kustomization.yaml`)) as Kustomization;

/** Variables of a file of settings, as kustomize reads it: a name without `=` would take its value from the shell. */
export const settingsIn = (path: string): Labels =>
  Object.fromEntries(
    read(`deploy/kubernetes/${path}`)
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const [, name, value] = /^([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? [];
        if (name === undefined || value === undefined) throw new Error(`${path}: no setting: ${line}`);
        return [name, value];
      }),
  );

function resourcesIn(file: string): Resource[] {
  return parseAllDocuments(read(`deploy/kubernetes/${file}`)).map((document) => {
    if (document.errors.length > 0 || document.warnings.length > 0) throw new Error(`${file}: ${String(document.errors[0])}`);
    return document.toJS() as Resource;
  });
}

/** Everything that the four folders install together, before kustomize names namespace and registry. */
export const resources: Resource[] = FOLDERS.flatMap((folder) =>
  kustomization(folder)
    .resources.filter((name) => name.endsWith('.yaml'))
    .flatMap((name) => resourcesIn(`${folder}/${name}`)),
);

export const ofKind = (kind: string): Resource[] => resources.filter((resource) => resource.kind === kind);
export const named = (kind: string, name: string): Resource => {
  const found = ofKind(kind).find(({ metadata }) => metadata.name === name);
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found;
};

/** The pods by their component: api, worker, migrate. */
export const pods: [component: string, pod: Pod][] = resources.flatMap(({ metadata, spec: { template } }) =>
  template ? [[metadata.labels?.['app.kubernetes.io/component'] ?? metadata.name, template]] : [],
);
export const pod = (component: string): Pod => {
  const found = pods.find(([name]) => name === component);
  if (!found) throw new Error(`there is no pod of ${component}`);
  return found[1];
};
export const containersOf = ({ spec }: Pod): Container[] => [...(spec.initContainers ?? []), ...spec.containers];

/** All containers, by component and name. */
export const allContainers: [name: string, container: Container][] = pods.flatMap(([component, each]) =>
  containersOf(each).map((container) => [`${component}/${container.name}`, container] as [string, Container]),
);
/** The components that run the service. */
export const servicePods = ['api', 'worker'] as const;
export const mainOf = (component: string): Container => pod(component).spec.containers[0] as Container;
export const portOf = (component: string, name: string): number | undefined =>
  mainOf(component).ports?.find((port) => port.name === name)?.containerPort;

/** The variables of a container; `changes` are those of the example. */
export function environmentOf({ env = [], envFrom = [] }: Container, changes: Labels = {}): Labels {
  const maps = envFrom.map(({ configMapRef: { name } }) => {
    const generator = kustomization('base').configMapGenerator?.find((map) => map.name === name);
    if (!generator) throw new Error(`there is no ConfigMap ${name}`);
    return Object.assign({}, ...generator.envs.map((file) => settingsIn(`base/${file}`))) as Labels;
  });
  const own = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  return { ...(Object.assign({}, ...maps) as Labels), ...(maps.length > 0 ? changes : {}), ...own };
}

export const matches = ({ matchLabels, matchExpressions = [] }: Selector, labels: Labels): boolean =>
  Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
  matchExpressions.every(({ key, operator, values }) => operator === 'In' && values.includes(labels[key] ?? ''));
