{{- define "fairlane.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end -}}
{{- end }}

{{/* (dict "root" $ "component" "web"), and "queue" of a worker */}}
{{- define "fairlane.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- with .queue }}
fairlane/queue: {{ . }}
{{- end }}
{{- end }}

{{- define "fairlane.labels" -}}
{{ include "fairlane.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "fairlane.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* a value as a setting is written: Helm's numbers are floats, and a million would be 1e+06 */}}
{{- define "fairlane.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ printf "%.0f" . }}{{ else }}{{ . }}{{ end -}}
{{- end }}

{{/* of a pod: no token of the cluster, no root, no right */}}
{{- define "fairlane.pod" -}}
serviceAccountName: {{ .Values.serviceAccountName }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{/* (dict "root" $ "owner" true) with the owner's address */}}
{{- define "fairlane.volumes" -}}
- name: home
  emptyDir: {sizeLimit: {{ .root.Values.scratch }}}
- name: tmp
  emptyDir: {sizeLimit: 256Mi}
- name: secrets
  projected:
    sources:
      - secret: {name: {{ .root.Values.secrets.name }}}
      {{- if .owner }}
      - secret: {name: {{ .root.Values.secrets.owner }}}
      {{- end }}
{{- end }}

{{/* of a container: (dict "root" $), with "env" of its own and "owner" */}}
{{- define "fairlane.container" -}}
image: {{ include "fairlane.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: home, mountPath: /var/lib/fairlane}
  - {name: tmp, mountPath: /tmp}
  - {name: secrets, mountPath: /run/secrets, readOnly: true}
env:
  - {name: DATABASE_URL_FILE, value: /run/secrets/database_url}
  - {name: SECRET_KEY_FILE, value: /run/secrets/secret_key}
  {{- if .owner }}
  - {name: DATABASE_OWNER_URL_FILE, value: /run/secrets/database_owner_url}
  {{- end }}
  {{- /* of all processes: webhooks have links, and a mail server needs it */}}
  {{- if and .root.Values.ingress.enabled (not (hasKey (.root.Values.settings | default dict) "PUBLIC_URL")) }}
  - {name: PUBLIC_URL, value: "http{{ ternary "s" "" (ne .root.Values.ingress.tlsSecret "") }}://{{ .root.Values.ingress.host }}"}
  {{- end }}
  {{- range $name, $value := .env }}
  - {name: {{ $name }}, value: {{ $value | toString | quote }}}
  {{- end }}
  {{- range $name, $value := .root.Values.settings }}
  - {name: {{ $name }}, value: {{ include "fairlane.text" $value | quote }}}
  {{- end }}
  {{- with .root.Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* a worker's or beat's, by the name of its node */}}
{{- define "fairlane.alive" -}}
startupProbe:
  exec: {command: [fairlane-alive, {{ . }}]}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 36
livenessProbe:
  exec: {command: [fairlane-alive, {{ . }}]}
  periodSeconds: 30
  timeoutSeconds: 5
  failureThreshold: 10  # a node is silent too while the database is away, and a restart does not help then
{{- end }}
