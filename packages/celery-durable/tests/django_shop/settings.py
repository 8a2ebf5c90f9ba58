"""SHOP_DRIVER says which driver Django uses: both are installed, and Django would take psycopg 3."""

import os
import sys
from urllib.parse import urlsplit

if os.environ["SHOP_DRIVER"] == "psycopg2":
    sys.modules["psycopg"] = None  # type: ignore[assignment]

place = urlsplit(os.environ["SHOP_DATABASE"])
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql", "NAME": place.path.strip("/"), "USER": place.username,
        "HOST": place.hostname, "PORT": place.port, "OPTIONS": {"application_name": "shop"},
    }
}  # fmt: skip
if os.environ["SHOP_DRIVER"] == "psycopg, bound":
    DATABASES["default"]["OPTIONS"]["server_side_binding"] = True
SECRET_KEY = "not a secret"
ALLOWED_HOSTS = ["testserver"]
USE_TZ = True
ROOT_URLCONF = "django_shop.urls"
INSTALLED_APPS = [
    "django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.messages",
    "django.contrib.sessions", "celery_durable.contrib.django", "django_shop",
]  # fmt: skip
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]  # fmt: skip
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request", "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]  # fmt: skip
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

CELERY_BROKER_URL = os.environ.get("SHOP_BROKER", "durable-django://default")
CELERY_TASK_ACKS_LATE = CELERY_TASK_REJECT_ON_WORKER_LOST = CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "main"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
