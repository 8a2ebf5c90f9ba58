"""Orders, and what was done about them."""

from django.db import models


class Order(models.Model):
    name = models.TextField(unique=True)

    class Meta:
        app_label = "django_shop"

    def __str__(self):
        return self.name


class Run(models.Model):
    name = models.TextField()
    saw_the_order = models.BooleanField()

    class Meta:
        app_label = "django_shop"

    def __str__(self):
        return self.name
