import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { Service } from 'kubernetes-models/v1/Service';

/** Models whose `validate()` is compiled from the OpenAPI schema of Kubernetes 1.33 or of the operator's CRDs. */
const MODELS = [
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  PodMonitor,
  PrometheusRule,
  Service,
] as unknown as { apiVersion: string; kind: string; prototype: { validate: () => void } }[];

/** Returns a value that calls `read` with the path of each property that is read, and the paths of all of them. */
function recordReads(value: unknown, path: string, read: (path: string) => void): { recorded: unknown; paths: string[] } {
  if (typeof value !== 'object' || value === null) return { recorded: value, paths: [] };
  const children = Object.entries(value).map(([name, child]) => [name, recordReads(child, `${path}/${name}`, read)] as const);
  const copy = Object.fromEntries(children.map(([name, { recorded }]) => [name, recorded]));
  const recorded = new Proxy<object>(Array.isArray(value) ? Object.values(copy) : copy, {
    get(target, name) {
      read(`${path}/${String(name)}`);
      return Reflect.get(target, name) as unknown;
    },
  });
  return { recorded, paths: children.flatMap(([name, { paths }]) => [`${path}/${name}`, ...paths]) };
}

/**
 * Returns what is wrong with a resource. The schemas admit unknown fields, as the API server does when it is not asked to be strict; but a compiled
 * schema reads no field that it does not know, so what is left unread is unknown.
 */
export function schemaProblems(resource: { apiVersion: string; kind: string }): string[] {
  const model = MODELS.find(({ apiVersion, kind }) => apiVersion === resource.apiVersion && kind === resource.kind);
  if (!model) return [`no schema of ${resource.apiVersion} ${resource.kind}`];
  const reads = new Set<string>();
  const { recorded, paths } = recordReads(resource, '', (path) => reads.add(path));
  try {
    model.prototype.validate.call(recorded);
  } catch (error) {
    return [(error as Error).message];
  }
  return paths.filter((path) => !reads.has(path)).map((path) => `unknown field ${path}`);
}
