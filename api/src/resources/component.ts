import type { ComponentRecord, ComponentSummary, RegistryRecord, RegistrySummary } from '@headwater/engine';
import type {
  componentSchema,
  componentSummarySchema,
  registryComponentSchema,
  registrySummarySchema,
  Shown,
} from '@headwater/shared/contract';
import { epochSeconds } from './time.ts';

export function presentComponentSummary(component: ComponentSummary): Shown<typeof componentSummarySchema> {
  return {
    id: component.id,
    name: component.name,
    key: component.key ?? null,
    version: component.version,
    type: component.type,
    description: component.description ?? null,
    code_hash: component.codeHash,
    code_url: component.codeUrl ?? null,
    dedupe: component.dedupe ?? null,
    has_additional_props: component.hasAdditionalProps,
    dependencies: component.dependencies,
    published_at: component.publishedAt === undefined ? null : epochSeconds(component.publishedAt),
    created_at: epochSeconds(component.createdAt),
    updated_at: epochSeconds(component.updatedAt),
  };
}

export function presentComponent(component: ComponentRecord): Shown<typeof componentSchema> {
  const { code, configurableProps: configurable_props } = component;
  return { ...presentComponentSummary(component), code, configurable_props };
}

export function presentRegistrySummary(component: RegistrySummary): Shown<typeof registrySummarySchema> {
  return { ...presentComponentSummary(component), app: component.app ?? null };
}

export function presentRegistryComponent(component: RegistryRecord): Shown<typeof registryComponentSchema> {
  return { ...presentComponent(component), app: component.app ?? null, versions: component.versions };
}
