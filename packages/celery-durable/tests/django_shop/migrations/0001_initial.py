from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = ()
    operations = (
        migrations.CreateModel("Order", [("id", models.BigAutoField(primary_key=True, serialize=False, auto_created=True, verbose_name="ID")), ("name", models.TextField(unique=True))]),
        migrations.CreateModel("Run", [("id", models.BigAutoField(primary_key=True, serialize=False, auto_created=True, verbose_name="ID")), ("name", models.TextField()), ("saw_the_order", models.BooleanField())]),
    )  # fmt: skip
